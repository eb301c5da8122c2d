//! What is wrong with a server's certificate.

use crate::net::guard::Host;
use garson_core::explanation::TlsFailure;
use garson_core::time::Timestamp;
use tokio_rustls::rustls::CertificateError;
use tokio_rustls::rustls::pki_types::UnixTime;

pub fn explain(error: &CertificateError, host: &Host) -> TlsFailure {
    match error {
        CertificateError::ExpiredContext { not_after, .. } => {
            TlsFailure::CertificateExpiredOn { day: day(*not_after) }
        }
        CertificateError::NotValidYetContext { not_before, .. } => TlsFailure::CertificateNotValidBefore {
            day: day(*not_before),
        },
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            TlsFailure::CertificateForOtherHost {
                host: host.to_string(),
            }
        }
        CertificateError::Expired => TlsFailure::CertificateExpired,
        CertificateError::NotValidYet => TlsFailure::CertificateNotYetValid,
        CertificateError::UnknownIssuer => TlsFailure::IssuerNotTrusted,
        CertificateError::Revoked => TlsFailure::CertificateRevoked,
        CertificateError::UnknownRevocationStatus
        | CertificateError::ExpiredRevocationList
        | CertificateError::ExpiredRevocationListContext { .. } => TlsFailure::RevocationUnknown,
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            TlsFailure::NotServerCertificate
        }
        CertificateError::BadEncoding | CertificateError::UnhandledCriticalExtension => {
            TlsFailure::CertificateUnreadable
        }
        CertificateError::BadSignature => TlsFailure::BadSignature,
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            TlsFailure::SignatureNotSupported
        }
        // The verifier's own error type is not public, so only its name can be compared. OpenSSL's usual command for a
        // self-signed certificate makes one that fails like this.
        CertificateError::Other(other) if other.to_string() == "CaUsedAsEndEntity" => {
            TlsFailure::AuthorityCertificate
        }
        _ => TlsFailure::InvalidCertificate,
    }
}

/// The day of a timestamp, in UTC.
fn day(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let mut text = Timestamp::from_millis(seconds.saturating_mul(1000)).to_string();
    if let Some(end) = text.find('T') {
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(text: &str) -> UnixTime {
        let at: Timestamp = text.parse().unwrap();
        let millis = u64::try_from(at.as_millis()).unwrap();
        UnixTime::since_unix_epoch(Duration::from_millis(millis))
    }

    #[test]
    fn days_are_named() {
        let host = Host::Name("till.example.com".to_owned());
        let said = |error: CertificateError| explain(&error, &host).to_string();
        let (time, not_after) = (at("2026-03-01T09:00:00Z"), at("2026-01-02T23:59:59Z"));
        let expired = CertificateError::ExpiredContext { time, not_after };
        assert_eq!(said(expired), "the certificate expired on 2026-01-02");
        let early = CertificateError::NotValidYetContext {
            time,
            not_before: at("2027-12-31T00:00:00Z"),
        };
        assert_eq!(said(early), "the certificate is not valid before 2027-12-31");
        assert_eq!(said(CertificateError::Revoked), "the certificate was revoked");
    }
}
