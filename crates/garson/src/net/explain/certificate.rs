//! What is wrong with a certificate.

use crate::net::guard::Host;
use garson_core::time::Timestamp;
use tokio_rustls::rustls::CertificateError as Wrong;
use tokio_rustls::rustls::pki_types::UnixTime;

pub fn explain(wrong: &Wrong, host: &Host) -> String {
    let words = match wrong {
        Wrong::ExpiredContext { not_after, .. } => {
            return format!("the certificate expired on {}", day(*not_after));
        }
        Wrong::NotValidYetContext { not_before, .. } => {
            return format!("the certificate is not valid before {}", day(*not_before));
        }
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => {
            return format!("the certificate is for another name than {host}");
        }
        Wrong::Expired => "the certificate has expired",
        Wrong::NotValidYet => "the certificate is not valid yet",
        Wrong::UnknownIssuer => "the certificate's issuer is not trusted",
        Wrong::Revoked => "the certificate was revoked",
        Wrong::UnknownRevocationStatus
        | Wrong::ExpiredRevocationList
        | Wrong::ExpiredRevocationListContext { .. } => "nobody knows whether the certificate was revoked",
        Wrong::InvalidPurpose | Wrong::InvalidPurposeContext { .. } => {
            "the certificate is not meant for a server"
        }
        Wrong::BadEncoding | Wrong::UnhandledCriticalExtension => "the certificate cannot be read",
        Wrong::BadSignature => "the certificate is not signed by the issuer that it names",
        Wrong::UnsupportedSignatureAlgorithmContext { .. }
        | Wrong::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "the certificate is signed in a way that is not supported"
        }
        // The verifier's own error is in there, of a type that is not public; so it is told by its name. It is what a
        // certificate gets that signs itself with the usual command of OpenSSL.
        Wrong::Other(other) if other.to_string() == "CaUsedAsEndEntity" => {
            "the certificate is one of an authority, not of a server"
        }
        _ => "the certificate is not valid",
    };
    words.to_owned()
}

/// The day of a moment (UTC).
fn day(moment: UnixTime) -> String {
    let seconds = i64::try_from(moment.as_secs()).unwrap_or(i64::MAX);
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
        let moment: Timestamp = text.parse().unwrap();
        let millis = u64::try_from(moment.as_millis()).unwrap();
        UnixTime::since_unix_epoch(Duration::from_millis(millis))
    }

    #[test]
    fn days_are_named() {
        let host = Host::Name("till.example.com".to_owned());
        let (time, day) = (at("2026-03-01T09:00:00Z"), at("2026-01-02T23:59:59Z"));
        let expired = Wrong::ExpiredContext { time, not_after: day };
        assert_eq!(explain(&expired, &host), "the certificate expired on 2026-01-02");
        let early = Wrong::NotValidYetContext {
            time,
            not_before: at("2027-12-31T00:00:00Z"),
        };
        assert_eq!(
            explain(&early, &host),
            "the certificate is not valid before 2027-12-31"
        );
        assert_eq!(explain(&Wrong::Revoked, &host), "the certificate was revoked");
    }
}
