//! Failures in plain words, fit for the developer whose address was called.

mod certificate;

use super::guard::Host;
use std::error::Error;
use std::io;
use tokio_rustls::rustls::{self, AlertDescription, InvalidMessage, PeerIncompatible};

/// Why there is no connection.
pub fn connect(error: &io::Error) -> String {
    format!("cannot connect: {}", error.kind())
}

/// Why there is no TLS over a connection.
pub fn tls(error: &io::Error, host: &Host) -> String {
    match (within(error), error.kind()) {
        (Some(error), _) => handshake(error, host),
        (None, io::ErrorKind::UnexpectedEof) => {
            "the connection was closed during the TLS handshake".to_owned()
        }
        (None, io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => {
            "the connection was reset during the TLS handshake".to_owned()
        }
        (None, kind) => format!("the TLS handshake failed: {kind}"),
    }
}

/// Why a request that was handed to a connection has no answer, or no whole one if something of it was heard.
pub fn exchange(error: &hyper::Error, is_heard: bool) -> String {
    if error.is_parse_too_large() {
        return "the answer has too many headers, or too long ones".to_owned();
    }
    if error.is_parse() {
        return "the answer is not HTTP".to_owned();
    }
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    // With TLS 1.3, what the other side has against us may come only after the handshake.
    if let Some(rustls::Error::AlertReceived(alert)) = cause.and_then(within) {
        return refused(*alert);
    }
    if cause.is_some_and(|cause| cause.kind() == io::ErrorKind::InvalidData) {
        return "too much was sent before an answer began".to_owned();
    }
    let end = match cause.map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionReset) => "reset",
        _ => "closed",
    };
    let before = match is_heard {
        true => "the answer's headers were whole",
        false => "an answer came",
    };
    format!("the connection was {end} before {before}")
}

fn within(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

fn handshake(error: &rustls::Error, host: &Host) -> String {
    use rustls::Error::{
        AlertReceived, InvalidCertificate, InvalidMessage as Invalid, NoCertificatesPresented,
        PeerIncompatible as Incompatible,
    };
    match error {
        InvalidCertificate(wrong) => certificate::explain(wrong, host),
        NoCertificatesPresented => "the other side shows no certificate".to_owned(),
        Invalid(InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion) => {
            "the other side does not speak TLS".to_owned()
        }
        AlertReceived(AlertDescription::UnrecognisedName) => {
            format!("the other side has no certificate for {host}")
        }
        AlertReceived(alert) => refused(*alert),
        Incompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => OLD_VERSION.to_owned(),
        Incompatible(_) => NOTHING_IN_COMMON.to_owned(),
        _ => "the other side does not keep to the rules of TLS".to_owned(),
    }
}

const OLD_VERSION: &str = "the other side speaks no TLS that is still safe: 1.2 or 1.3 is needed";
const NOTHING_IN_COMMON: &str = "the other side offers no encryption that is still safe";

/// What the other side says when it ends a handshake.
fn refused(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::ProtocolVersion => OLD_VERSION.to_owned(),
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => {
            NOTHING_IN_COMMON.to_owned()
        }
        AlertDescription::CertificateRequired | AlertDescription::NoCertificate => {
            "the other side wants a certificate of the caller, and there is none".to_owned()
        }
        other => match other.as_str() {
            Some(name) => format!("the other side ended TLS with the alert {name}"),
            None => "the other side ended TLS".to_owned(),
        },
    }
}
