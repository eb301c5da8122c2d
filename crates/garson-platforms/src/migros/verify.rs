//! A message is genuine when its HTTP Basic user and password are the ones that we gave Migros; where none were given, when
//! it presents the restaurant's key, which both sides know.

use super::names::{API_KEY, INBOUND_PASSWORD, INBOUND_USER};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use garson_core::integration::Credentials;
use garson_core::platform::{Claim, HookRequest, Verified};
use garson_core::secret::Secret;

const HEADER: &str = "authorization";
const SCHEME: &str = "basic ";
const KEY_HEADER: &str = "xapikey";

/// The `user:password` that the message presents.
fn presented(request: &HookRequest) -> Option<Secret<Vec<u8>>> {
    let value = request.header(HEADER)?;
    let scheme = value.get(..SCHEME.len())?;
    let encoded = value.get(SCHEME.len()..)?.trim();
    if scheme.eq_ignore_ascii_case(SCHEME) {
        STANDARD.decode(encoded).ok().map(Secret::new)
    } else {
        None
    }
}

/// The key that the message presents.
fn presented_key(request: &HookRequest) -> Option<&[u8]> {
    request.header(KEY_HEADER).map(str::as_bytes)
}

pub fn claim(request: &HookRequest) -> Claim {
    let pair = presented(request).filter(|pair| !pair.expose().is_empty());
    let key = presented_key(request).filter(|key| !key.is_empty());
    let secrets: Vec<_> = pair
        .into_iter()
        .chain(key.map(|key| Secret::new(key.to_vec())))
        .collect();
    if secrets.is_empty() {
        Claim::Nothing
    } else {
        Claim::Secrets(secrets)
    }
}

fn part<'a>(credentials: &'a Credentials, name: &str) -> Option<&'a str> {
    let value = credentials.get(name)?.expose().as_str();
    (!value.is_empty()).then_some(value)
}

/// The user and password, if they are set. With only one of the two, every request is refused.
pub fn inbound_secret(credentials: &Credentials) -> Option<Secret<Vec<u8>>> {
    let (user, password) = (
        part(credentials, INBOUND_USER),
        part(credentials, INBOUND_PASSWORD),
    );
    let secret = match (user, password) {
        (Some(user), Some(password)) => format!("{user}:{password}"),
        (None, None) => part(credentials, API_KEY)?.to_owned(),
        _ => return None,
    };
    Some(Secret::new(secret.into_bytes()))
}

pub fn verify<'a>(request: &'a HookRequest, credentials: &Credentials) -> Option<Verified<'a>> {
    let expected = inbound_secret(credentials)?;
    let is_pair = part(credentials, INBOUND_USER).is_some();
    if is_pair {
        Verified::by_secret(request, presented(request)?.expose(), expected.expose())
    } else {
        Verified::by_secret(request, presented_key(request)?, expected.expose())
    }
}
