//! Signatures as [Standard Webhooks](https://www.standardwebhooks.com) defines them: HMAC-SHA256 over id, time and body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;

const PREFIX: &str = "whsec_";

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// Signs requests with one secret, or with two while one replaces the other.
#[derive(Clone)]
pub struct Signer {
    keys: Vec<(Hmac<Sha256>, Option<Timestamp>)>,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signer({} keys)", self.keys.len())
    }
}

impl Signer {
    /// `old` is the secret before the current one, and until when it is valid. None if a secret is damaged.
    #[must_use]
    pub fn new(secret: &Secret<String>, old: Option<(&Secret<String>, Timestamp)>) -> Option<Self> {
        let mut keys = vec![(key(secret)?, None)];
        if let Some((old, until)) = old {
            keys.push((key(old)?, Some(until)));
        }
        Some(Self { keys })
    }

    /// Adds the headers that let a receiver verify a body.
    pub fn sign(&self, headers: &mut HeaderMap, id: &str, body: &str, now: Timestamp) {
        let seconds = now.as_millis().div_euclid(1000);
        let valid = self
            .keys
            .iter()
            .filter(|(_, until)| until.is_none_or(|until| now < until));
        let signatures: Vec<String> = valid
            .map(|(key, _)| {
                let mut mac = key.clone();
                mac.update(format!("{id}.{seconds}.").as_bytes());
                mac.update(body.as_bytes());
                format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
            })
            .collect();
        let values = [
            (ID, id.to_owned()),
            (TIMESTAMP, seconds.to_string()),
            (SIGNATURE, signatures.join(" ")),
        ];
        for (name, value) in values {
            // Ids, numbers and base64 are valid in headers.
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
    }
}

fn key(secret: &Secret<String>) -> Option<Hmac<Sha256>> {
    let encoded = secret.expose().strip_prefix(PREFIX)?;
    let bytes = Secret::new(STANDARD.decode(encoded).ok()?);
    Hmac::<Sha256>::new_from_slice(bytes.expose()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(signer: &Signer, at: i64) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let body = r#"{"test": 2432232314}"#;
        signer.sign(
            &mut headers,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            body,
            Timestamp::from_millis(at),
        );
        headers
    }

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

    #[test]
    fn signature_is_that_of_the_specification() {
        let signer = Signer::new(&secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), None).unwrap();
        let headers = signed(&signer, 1_614_265_330_000);
        assert_eq!(headers["webhook-id"], "msg_p5jXN8AQM9LWM0D4loKWxJek");
        assert_eq!(headers["webhook-timestamp"], "1614265330");
        assert_eq!(
            headers["webhook-signature"],
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn old_secret_signs_until_its_end() {
        let (new, old) = (
            secret("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"),
            secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        );
        let signer = Signer::new(&new, Some((&old, Timestamp::from_millis(2_000)))).unwrap();
        let count = |at| {
            signed(&signer, at)["webhook-signature"]
                .to_str()
                .unwrap()
                .split(' ')
                .count()
        };
        assert_eq!((count(1_999), count(2_000)), (2, 1));
    }

    #[test]
    fn damaged_secret_signs_nothing() {
        assert!(Signer::new(&secret("whsec_***"), None).is_none());
        assert!(Signer::new(&secret("abc"), None).is_none());
    }
}
