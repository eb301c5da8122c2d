//! Messages that present a key which both sides know, in the header `x-api-key`.

use garson_core::integration::Credentials;
use garson_core::platform::{Claim, HookRequest, Verified};
use garson_core::secret::Secret;

const HEADER: &str = "x-api-key";
/// The credential that holds the key.
pub const INBOUND_KEY: &str = "inboundKey";

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
