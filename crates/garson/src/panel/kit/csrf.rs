//! What every form carries, so that no other site can send it: only who holds the cookie can know it.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const LENGTH: usize = 16;

fn right(cookie: &str) -> [u8; LENGTH] {
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

/// The token of the holder of this cookie. It looks different each time, so that nothing can be learnt of it from how
/// well pages are compressed.
pub fn token(cookie: &str) -> String {
    let mut mask = [0; LENGTH];
    // Without randomness it is still right, and still nobody else's.
    let _masked_or_not = getrandom::fill(&mut mask);
    hex(&mask) + &hex(&masked(mask, right(cookie)))
}

/// Something for a browser to hold that nobody else can know.
pub fn fresh() -> String {
    token("nobody")
}

/// Was this token made for the holder of this cookie?
pub fn is_right(cookie: &str, given: &str) -> bool {
    let Some((mask, rest)) = given.split_at_checked(2 * LENGTH) else {
        return false;
    };
    match (bytes(mask), bytes(rest)) {
        (Some(mask), Some(rest)) => bool::from(masked(mask, rest).ct_eq(&right(cookie))),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_right_for_its_cookie_alone() {
        let (one, again) = (token("a"), token("a"));
        assert_ne!(one, again);
        assert!(is_right("a", &one) && is_right("a", &again));
        assert!(!is_right("b", &one));
        for wrong in [
            "",
            "00",
            &one[1..],
            &format!("{one}0"),
            &"g".repeat(64),
            &"0".repeat(64),
            "ş",
        ] {
            assert!(!is_right("a", wrong), "{wrong}");
        }
    }
}
