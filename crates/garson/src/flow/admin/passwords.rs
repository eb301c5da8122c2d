//! Passwords of users: how strong they must be, and their hashes. Hashing runs on the password threads.

use crate::app::App;
use crate::app::password_threads::{Busy, Requester};
use crate::flow::Fault;
use argon2::{Argon2, PasswordHash, PasswordHasher, PasswordVerifier};
use garson_core::field_problem::FieldProblem;
use garson_core::secret::Secret;
use garson_store::StoreError;
use std::sync::LazyLock;
use zxcvbn::{Score, zxcvbn};

/// How long a password must be.
pub const SHORTEST_PASSWORD: usize = 8;
/// From this score on, a password withstands guessing at the rate at which the service lets anybody guess.
const WEAKEST: Score = Score::Two;

/// Words that people here use in passwords and that the crate's English lists do not have.
const LOCAL_WORDS: &[&str] = &[
    "garson",
    "restoran",
    "restaurant",
    "lokanta",
    "yemek",
    "parola",
    "sifre",
    "sampiyon",
    "galatasaray",
    "fenerbahce",
    "besiktas",
    "karakartal",
    "trabzonspor",
    "istanbul",
    "ankara",
    "izmir",
    "turkiye",
    "cumhuriyet",
    "mustafakemal",
    "ataturk",
    "seviyorum",
    "seniseviyorum",
    "yagmur",
    "mustafa",
];

/// What an unknown address is checked against, so that it takes as long as a known one.
static NOBODY: LazyLock<Option<String>> = LazyLock::new(|| hash(&Secret::new("nobody's".to_owned())).ok());

/// Refuses a password that is too short or easy to guess. What is known of the user, such as the name, does not count.
pub fn check_strength(password: &str, known: &[&str]) -> Result<(), FieldProblem> {
    if password.chars().count() < SHORTEST_PASSWORD {
        let min = SHORTEST_PASSWORD;
        return Err(FieldProblem::PasswordTooShort { min });
    }
    let parts = known
        .iter()
        .flat_map(|text| text.split(['@', '.', ' ', '-', '_']))
        .filter(|part| part.chars().count() > 2);
    let words: Vec<&str> = LOCAL_WORDS
        .iter()
        .copied()
        .chain(known.iter().copied())
        .chain(parts)
        .collect();
    if zxcvbn(password.trim(), &words).score() < WEAKEST {
        return Err(FieldProblem::CommonPassword);
    }
    Ok(())
}

fn hash(password: &Secret<String>) -> Result<String, Fault> {
    Argon2::default()
        .hash_password(password.expose().as_bytes())
        .map(|hash| hash.to_string())
        .map_err(|_| Fault::Store(StoreError::internal("the password cannot be hashed")))
}

/// Checks the strength of a new password and hashes it, on a password thread. `known`: what is known of the user.
pub(crate) async fn hash_new(
    app: &App,
    requester: Requester,
    password: Secret<String>,
    known: Vec<String>,
) -> Result<String, Fault> {
    let work = move || {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        check_strength(password.expose(), &known).map_err(|problem| Fault::invalid("password", problem))?;
        hash(&password)
    };
    let hashed = app.sign_in_limits.password_threads.run(requester, work).await;
    hashed.map_err(|Busy| Fault::SignInFlood)?
}

/// Checks a password on a password thread; without a hash it takes as long and is wrong.
pub(super) async fn matches(
    app: &App,
    requester: Requester,
    password: Secret<String>,
    hash: Option<String>,
) -> Result<bool, Fault> {
    let check = move || {
        let is_known = hash.is_some();
        let hash = hash.or_else(|| NOBODY.clone()).unwrap_or_default();
        let Ok(parsed) = PasswordHash::new(&hash) else {
            return false;
        };
        let fits = Argon2::default().verify_password(password.expose().as_bytes(), &parsed);
        fits.is_ok() && is_known
    };
    let checked = app.sign_in_limits.password_threads.run(requester, check).await;
    checked.map_err(|Busy| Fault::SignInFlood)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_that_are_tried_first_are_refused() {
        for password in [
            "12345678",
            "Password1",
            "QWERTYUIOP",
            " 12345678 ",
            "ıııııııııı",
            "galatasaray",
            "fenerbahce1907",
            "ayse.yilmaz1",
            "ayse@example.com",
            "p@ssw0rd",
            "19051905",
        ] {
            let checked = check_strength(password, &["ayse@example.com", "Ayşe Yılmaz", "ayse.yilmaz"]);
            assert_eq!(checked, Err(FieldProblem::CommonPassword), "{password}");
        }
        for password in [
            "correct horse",
            "another horse",
            "12345678-lahmacun",
            "ş".repeat(3).as_str(),
        ] {
            let expected = if password.chars().count() < SHORTEST_PASSWORD {
                Err(FieldProblem::PasswordTooShort {
                    min: SHORTEST_PASSWORD,
                })
            } else {
                Ok(())
            };
            assert_eq!(check_strength(password, &[]), expected, "{password}");
        }
        // The longest that a form takes does not keep a thread busy.
        let long: String = (0..8_000_u32)
            .filter_map(|n| char::from_u32(33 + n * 7 % 90))
            .collect();
        assert!(check_strength(&long, &[]).is_ok());
    }
}
