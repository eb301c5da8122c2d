//! The key that events carry, as a flag or variable of `garson receive` and `garson check-receiver`.

use super::command::CommandError;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use garson_core::account::AuthorizationForm;
use garson_core::secret::Secret;

/// Other users of the machine can see a key on the command line; a variable they cannot.
const VARIABLE: &str = "GARSON_RECEIVE_KEY";

#[derive(Args)]
pub struct KeyArgs {
    /// The key that events carry, that is your account's primary API key; or the variable GARSON_RECEIVE_KEY
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// How the header carries it: `Authorization: Bearer KEY` or `Authorization: KEY`
    #[arg(long, value_name = "FORM", default_value = "bearer", value_parser = form())]
    pub authorization: AuthorizationForm,
}

fn form() -> impl TypedValueParser<Value = AuthorizationForm> {
    PossibleValuesParser::new(["bearer", "bare"])
        .map(|name| AuthorizationForm::named(&name).unwrap_or_default())
}

impl KeyArgs {
    /// The key, if there is one; the flag wins over the variable.
    pub fn key(&self) -> Result<Option<Secret<String>>, CommandError> {
        let Some(key) = self.key.clone().or_else(|| std::env::var(VARIABLE).ok()) else {
            return Ok(None);
        };
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(CommandError(
                "the key must be letters, digits and signs without spaces, as Garson issues them".to_owned(),
            ));
        }
        Ok(Some(Secret::new(key)))
    }
}
