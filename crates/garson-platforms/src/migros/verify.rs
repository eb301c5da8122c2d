//! A message is genuine when its HTTP Basic user and password are the ones that we gave Migros.

use super::{INBOUND_PASSWORD, INBOUND_USER};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use garson_core::integration::Credentials;
use garson_core::platform::{Claim, HookRequest, Verified};
use garson_core::secret::Secret;

const HEADER: &str = "authorization";
const SCHEME: &str = "basic ";

/// The `user:password` that the message presents.
fn presented(request: &HookRequest) -> Option<Secret<Vec<u8>>> {
    let value = request.header(HEADER)?;
    let scheme = value.get(..SCHEME.len())?;
    let encoded = value.get(SCHEME.len()..)?.trim();
    match scheme.eq_ignore_ascii_case(SCHEME) {
        true => STANDARD.decode(encoded).ok().map(Secret::new),
        false => None,
    }
}

pub fn claim(request: &HookRequest) -> Claim {
    presented(request).map_or(Claim::Nothing, |secret| Claim::secret(secret.expose()))
}

/// Nothing unless both are there: half of a pair lets nobody in.
pub fn inbound_secret(credentials: &Credentials) -> Option<Secret<Vec<u8>>> {
    let part = |name| {
        let value = credentials.get(name)?.expose().as_str();
        (!value.is_empty()).then_some(value)
    };
    let (user, password) = (part(INBOUND_USER)?, part(INBOUND_PASSWORD)?);
    Some(Secret::new(format!("{user}:{password}").into_bytes()))
}

pub fn verify<'a>(request: &'a HookRequest, credentials: &Credentials) -> Option<Verified<'a>> {
    let expected = inbound_secret(credentials)?;
    Verified::by_secret(request, presented(request)?.expose(), expected.expose())
}
