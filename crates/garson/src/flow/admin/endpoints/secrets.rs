//! Tokens and signing secrets of endpoints.

use crate::flow::Fault;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use garson_core::field_problem::FieldProblem;
use garson_core::secret::Secret;
use garson_store::StoreError;

/// The shortest and the longest token that an account may choose.
const SHORTEST_TOKEN: usize = 16;
const LONGEST_TOKEN: usize = 500;
/// The length of a random secret in bytes; Standard Webhooks asks for 24 to 64.
const LENGTH: usize = 32;

#[expect(clippy::disallowed_methods, reason = "needs real randomness")]
fn random() -> Result<[u8; LENGTH], Fault> {
    let mut random = [0; LENGTH];
    getrandom::fill(&mut random)
        .map_err(|_| Fault::Store(StoreError::unavailable("no randomness to be had")))?;
    Ok(random)
}

/// A new signing secret, as Standard Webhooks writes it.
pub(super) fn new_signing_secret() -> Result<Secret<String>, Fault> {
    Ok(Secret::new(format!("whsec_{}", STANDARD.encode(random()?))))
}

/// A new token.
pub(super) fn new_token() -> Result<Secret<String>, Fault> {
    Ok(Secret::new(format!("gwt_{}", URL_SAFE_NO_PAD.encode(random()?))))
}

/// Refuses a token that cannot be sent, or is easily guessed.
pub(super) fn check_token(token: &Secret<String>) -> Result<(), Fault> {
    let text = token.expose();
    if text.len() < SHORTEST_TOKEN || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        let min = SHORTEST_TOKEN;
        return Err(Fault::invalid("token", FieldProblem::SecretTooShort { min }));
    }
    if text.len() > LONGEST_TOKEN {
        let max = LONGEST_TOKEN;
        return Err(Fault::invalid("token", FieldProblem::TooLong { max }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_must_be_long_and_visible() {
        let check = |text: &str| check_token(&Secret::new(text.to_owned())).is_ok();
        assert!(check("0123456789abcdef") && !check("0123456789abcde"));
        assert!(!check("0123456789abcdef\n") && !check("0123456789 abcdef"));
        assert!(!check(&"x".repeat(LONGEST_TOKEN + 1)));
    }

    #[test]
    fn signing_secret_has_the_form_of_the_specification() {
        let secret = new_signing_secret().unwrap();
        let encoded = secret.expose().strip_prefix("whsec_").unwrap();
        assert_eq!(STANDARD.decode(encoded).unwrap().len(), LENGTH);
    }
}
