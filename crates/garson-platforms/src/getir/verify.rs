//! Getir's message is genuine when its `x-api-key` is the `inboundKey` that it was given.

use super::INBOUND_KEY;
use garson_core::integration::Credentials;
use garson_core::platform::{Claim, HookRequest, Verified};
use garson_core::secret::Secret;

const HEADER: &str = "x-api-key";

pub fn claim(request: &HookRequest) -> Claim {
    Claim::secret(request.header(HEADER).unwrap_or_default().as_bytes())
}

pub fn inbound_secret(credentials: &Credentials) -> Option<Secret<Vec<u8>>> {
    credentials
        .get(INBOUND_KEY)
        .map(|key| Secret::new(key.expose().as_bytes().to_vec()))
}

pub fn verify<'a>(request: &'a HookRequest, credentials: &Credentials) -> Option<Verified<'a>> {
    let expected = inbound_secret(credentials)?;
    Verified::by_secret(request, request.header(HEADER)?.as_bytes(), expected.expose())
}
