//! The key that events carry, from a file or a variable, for `garson receive` and `garson check-receiver`.

use super::command::CommandError;
use super::secret_input::read_secret;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use garson_core::account::AuthorizationForm;
use garson_core::secret::Secret;
use std::path::PathBuf;

/// Other users of the machine can see a key on the command line; a variable they cannot.
const VARIABLE: &str = "GARSON_RECEIVE_KEY";

#[derive(Args)]
pub struct KeyArgs {
    /// A file whose first line is the key that events carry, that is your account's primary API key; - reads standard
    /// input. Or the variable GARSON_RECEIVE_KEY
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// How the header carries it: `Authorization: Bearer KEY` or `Authorization: KEY`
    #[arg(long, value_name = "FORM", default_value = "bearer", value_parser = form())]
    pub authorization: AuthorizationForm,
}

fn form() -> impl TypedValueParser<Value = AuthorizationForm> {
    PossibleValuesParser::new(["bearer", "bare"])
        .map(|name| AuthorizationForm::named(&name).unwrap_or_default())
}

impl KeyArgs {
    /// The key, if there is one; the file wins over the variable.
    pub fn key(&self) -> Result<Option<Secret<String>>, CommandError> {
        let key = match &self.key_file {
            Some(file) => read_secret(file)?.expose().clone(),
            None => match std::env::var(VARIABLE) {
                Ok(key) => key,
                Err(_) => return Ok(None),
            },
        };
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(CommandError(
                "the key must be letters, digits and signs without spaces, as Garson issues them".to_owned(),
            ));
        }
        Ok(Some(Secret::new(key)))
    }
}
