//! Why there is no TLS over a connection.

use super::network::ConnectionError;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TlsFailure {
    ClosedInHandshake,
    ResetInHandshake,
    HandshakeFailed {
        error: ConnectionError,
    },
    NoTls,
    VersionTooOld,
    NoCommonCipher,
    ProtocolViolation,
    ClientCertificateRequired,
    Alert {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    HostNotAllowedInCertificate {
        host: String,
    },
    NoCertificate,
    NoCertificateForHost {
        host: String,
    },
    CertificateExpired,
    CertificateExpiredOn {
        day: String,
    },
    CertificateNotYetValid,
    CertificateNotValidBefore {
        day: String,
    },
    CertificateForOtherHost {
        host: String,
    },
    IssuerNotTrusted,
    CertificateRevoked,
    RevocationUnknown,
    NotServerCertificate,
    CertificateUnreadable,
    BadSignature,
    SignatureNotSupported,
    AuthorityCertificate,
    InvalidCertificate,
}

impl fmt::Display for TlsFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::HandshakeFailed { error } => return write!(f, "the TLS handshake failed: {error}"),
            Self::Alert { name: Some(name) } => {
                return write!(f, "the other side ended TLS with the alert {name}");
            }
            Self::HostNotAllowedInCertificate { host } => {
                return write!(f, "{host} cannot be in a certificate");
            }
            Self::NoCertificateForHost { host } => {
                return write!(f, "the other side has no certificate for {host}");
            }
            Self::CertificateExpiredOn { day } => return write!(f, "the certificate expired on {day}"),
            Self::CertificateNotValidBefore { day } => {
                return write!(f, "the certificate is not valid before {day}");
            }
            Self::CertificateForOtherHost { host } => {
                return write!(f, "the certificate is for another name than {host}");
            }
            Self::ClosedInHandshake => "the connection was closed during the TLS handshake",
            Self::ResetInHandshake => "the connection was reset during the TLS handshake",
            Self::NoTls => "the other side does not speak TLS",
            Self::VersionTooOld => "the other side speaks no TLS that is still safe: 1.2 or 1.3 is needed",
            Self::NoCommonCipher => "the other side offers no encryption that is still safe",
            Self::ProtocolViolation => "the other side does not keep to the rules of TLS",
            Self::ClientCertificateRequired => {
                "the other side wants a certificate of the caller, and there is none"
            }
            Self::Alert { name: None } => "the other side ended TLS",
            Self::NoCertificate => "the other side shows no certificate",
            Self::CertificateExpired => "the certificate has expired",
            Self::CertificateNotYetValid => "the certificate is not valid yet",
            Self::IssuerNotTrusted => "the certificate's issuer is not trusted",
            Self::CertificateRevoked => "the certificate was revoked",
            Self::RevocationUnknown => "it is not known whether the certificate was revoked",
            Self::NotServerCertificate => "the certificate is not meant for a server",
            Self::CertificateUnreadable => "the certificate cannot be read",
            Self::BadSignature => "the certificate is not signed by the issuer that it names",
            Self::SignatureNotSupported => "the certificate is signed in a way that is not supported",
            Self::AuthorityCertificate => "the certificate is one of an authority, not of a server",
            Self::InvalidCertificate => "the certificate is not valid",
        };
        f.write_str(text)
    }
}
