//! Time-based one-time passwords (RFC 6238) as authenticator apps make them: SHA-1, six digits, 30 seconds.

use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use ring::hmac;
use subtle::ConstantTimeEq;

/// The length of a secret in bytes: that of the hash.
pub const SECRET_BYTES: usize = 20;
const STEP_MILLIS: i64 = 30_000;
/// Clocks of phones are wrong by less than this many steps.
const TOLERATED_STEPS: i64 = 1;
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn step_of(now: Timestamp) -> i64 {
    now.as_millis().div_euclid(STEP_MILLIS)
}

/// The code of a step.
fn code_at(secret: &[u8], step: i64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let start = usize::from(tag.last().copied().unwrap_or(0) & 0x0f);
    let number = tag
        .iter()
        .skip(start)
        .take(4)
        .fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
    format!("{:06}", (number & 0x7fff_ffff) % 1_000_000)
}

/// The code that an app shows now.
#[must_use]
pub fn code_now(secret: &[u8], now: Timestamp) -> String {
    code_at(secret, step_of(now))
}

/// The step of a code that is valid now. Steps up to `used` do not count: a code works once.
#[must_use]
pub fn valid_step(secret: &[u8], code: &str, now: Timestamp, used: i64) -> Option<i64> {
    let now = step_of(now);
    let mut steps = (now - TOLERATED_STEPS..=now + TOLERATED_STEPS).filter(|step| *step > used);
    steps.find(|step| bool::from(code_at(secret, *step).as_bytes().ct_eq(code.as_bytes())))
}

/// A code as people type it: without spaces.
#[must_use]
pub fn typed(code: &str) -> String {
    code.chars().filter(|c| !c.is_whitespace() && *c != '-').collect()
}

/// Base32 without padding, as authenticator apps take it.
#[must_use]
pub fn base32(bytes: &[u8]) -> Secret<String> {
    let mut text = String::new();
    for chunk in bytes.chunks(5) {
        let mut block = [0; 8];
        block
            .iter_mut()
            .skip(3)
            .zip(chunk)
            .for_each(|(to, from)| *to = *from);
        let bits = u64::from_be_bytes(block);
        let letters = (chunk.len() * 8).div_ceil(5);
        for number in 0..letters {
            let index = usize::try_from(bits >> (35 - 5 * number) & 31).unwrap_or(0);
            text.push(char::from(ALPHABET[index]));
        }
    }
    Secret::new(text)
}

/// The address that a QR code holds.
#[must_use]
pub fn address(secret: &[u8], email: &str) -> Secret<String> {
    let label: String = url::form_urlencoded::byte_serialize(email.as_bytes()).collect();
    let secret = base32(secret);
    Secret::new(format!(
        "otpauth://totp/Garson:{label}?secret={}&issuer=Garson",
        secret.expose()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 6238 for SHA-1, their last six digits.
    #[test]
    fn codes_are_those_of_the_standard() {
        let secret = b"12345678901234567890";
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(code_now(secret, Timestamp::from_millis(seconds * 1_000)), code);
        }
    }

    #[test]
    fn code_works_once_and_for_a_short_time() {
        let (secret, at) = (b"12345678901234567890", |seconds: i64| {
            Timestamp::from_millis(seconds * 1_000)
        });
        let code = code_now(secret, at(90));
        assert_eq!(valid_step(secret, &code, at(90), 0), Some(3));
        assert_eq!(valid_step(secret, &code, at(149), 0), Some(3));
        assert_eq!(valid_step(secret, &code, at(60), 0), Some(3));
        assert_eq!(valid_step(secret, &code, at(150), 0), None);
        assert_eq!(valid_step(secret, &code, at(59), 0), None);
        assert_eq!(valid_step(secret, &code, at(90), 3), None);
        for wrong in ["", "1", "0000000", "abcdef"] {
            assert_eq!(valid_step(secret, wrong, at(90), 0), None);
        }
        assert_eq!(typed(" 123 456\n"), "123456");
    }

    /// The test vectors of RFC 4648.
    #[test]
    fn base32_is_that_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"), // typos: ignore
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(base32(bytes.as_bytes()).expose(), text);
        }
        let address = address(b"foobar", "a+b@example.com");
        assert_eq!(
            address.expose(),
            "otpauth://totp/Garson:a%2Bb%40example.com?secret=MZXW6YTBOI&issuer=Garson"
        );
    }
}
