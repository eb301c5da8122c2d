//! CSRF tokens: derived from a cookie that other sites cannot read.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const LENGTH: usize = 16;

fn expected(cookie: &str) -> [u8; LENGTH] {
    let digest = Sha256::new().chain_update("csrf").chain_update(cookie).finalize();
    std::array::from_fn(|at| digest[at])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    if hex.len() != 2 * LENGTH || !hex.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

fn masked(mask: [u8; LENGTH], other: [u8; LENGTH]) -> [u8; LENGTH] {
    std::array::from_fn(|at| mask[at] ^ other[at])
}

/// The token for a cookie. A random mask makes it differ on every page, because pages are compressed and a constant secret
/// could be guessed from their size (BREACH).
#[expect(clippy::disallowed_methods, reason = "needs real randomness")]
pub fn token(cookie: &str) -> String {
    let mut mask = [0; LENGTH];
    // Ignored: without a mask the token is still valid and secret.
    let _ = getrandom::fill(&mut mask);
    hex(&mask) + &hex(&masked(mask, expected(cookie)))
}

/// A random value for a guest cookie.
pub fn random() -> String {
    token("guest")
}

/// Whether the token belongs to the cookie.
pub fn is_valid(cookie: &str, given: &str) -> bool {
    let Some((mask, rest)) = given.split_at_checked(2 * LENGTH) else {
        return false;
    };
    match (bytes(mask), bytes(rest)) {
        (Some(mask), Some(rest)) => bool::from(masked(mask, rest).ct_eq(&expected(cookie))),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_for_its_cookie_alone() {
        let (one, again) = (token("a"), token("a"));
        assert_ne!(one, again);
        assert!(is_valid("a", &one) && is_valid("a", &again));
        assert!(!is_valid("b", &one));
        for wrong in [
            "",
            "00",
            &one[1..],
            &format!("{one}0"),
            &"g".repeat(64),
            &"0".repeat(64),
            "ş",
        ] {
            assert!(!is_valid("a", wrong), "{wrong}");
        }
    }
}
