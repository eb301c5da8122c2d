//! Errors of sockets, TLS and HTTP as explanations for the developer whose URL was called.

mod certificate;

use super::guard::Host;
use garson_core::explanation::{Explanation, NetworkFailure, TlsFailure};
use std::error::Error;
use std::io;
use tokio_rustls::rustls::{self, AlertDescription, InvalidMessage, PeerIncompatible};

/// Why there is no TCP connection.
pub fn connect(error: &io::Error) -> NetworkFailure {
    NetworkFailure::CannotConnect {
        error: error.kind().into(),
    }
}

/// Why the TLS handshake failed.
pub fn tls(error: &io::Error, host: &Host) -> TlsFailure {
    match (tls_error(error), error.kind()) {
        (Some(error), _) => handshake(error, host),
        (None, io::ErrorKind::UnexpectedEof) => TlsFailure::ClosedInHandshake,
        (None, io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => TlsFailure::ResetInHandshake,
        (None, kind) => TlsFailure::HandshakeFailed { error: kind.into() },
    }
}

/// Why a request that was handed to a connection has no answer. `has_begun`: some bytes of an answer came.
pub fn exchange(error: &hyper::Error, has_begun: bool) -> Explanation {
    if error.is_parse_too_large() {
        return NetworkFailure::HeadersTooLarge.into();
    }
    if error.is_parse() {
        return NetworkFailure::NotHttp.into();
    }
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    // With TLS 1.3, the peer's alert may come only after the handshake.
    if let Some(rustls::Error::AlertReceived(alert)) = cause.and_then(tls_error) {
        return alert_failure(*alert).into();
    }
    let kind = cause.map(io::Error::kind);
    let failure = match (kind, has_begun) {
        (Some(io::ErrorKind::InvalidData), _) => NetworkFailure::TooMuchBeforeAnswer,
        (Some(io::ErrorKind::ConnectionReset), true) => NetworkFailure::ResetInHeaders,
        (Some(io::ErrorKind::ConnectionReset), false) => NetworkFailure::ResetBeforeAnswer,
        (_, true) => NetworkFailure::ClosedInHeaders,
        (_, false) => NetworkFailure::ClosedBeforeAnswer,
    };
    failure.into()
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

fn handshake(error: &rustls::Error, host: &Host) -> TlsFailure {
    use rustls::Error::{
        AlertReceived, InvalidCertificate, InvalidMessage as Invalid, NoCertificatesPresented,
        PeerIncompatible as Incompatible,
    };
    match error {
        InvalidCertificate(error) => certificate::explain(error, host),
        NoCertificatesPresented => TlsFailure::NoCertificate,
        Invalid(InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion) => {
            TlsFailure::NoTls
        }
        AlertReceived(AlertDescription::UnrecognisedName) => TlsFailure::NoCertificateForHost {
            host: host.to_string(),
        },
        AlertReceived(alert) => alert_failure(*alert),
        Incompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => TlsFailure::VersionTooOld,
        Incompatible(_) => TlsFailure::NoCommonCipher,
        _ => TlsFailure::ProtocolViolation,
    }
}

fn alert_failure(alert: AlertDescription) -> TlsFailure {
    match alert {
        AlertDescription::ProtocolVersion => TlsFailure::VersionTooOld,
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => {
            TlsFailure::NoCommonCipher
        }
        AlertDescription::CertificateRequired | AlertDescription::NoCertificate => {
            TlsFailure::ClientCertificateRequired
        }
        other => TlsFailure::Alert {
            name: other.as_str().map(str::to_owned),
        },
    }
}
