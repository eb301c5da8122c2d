//! A message is genuine when its bearer token is a JWT that the branch's `pluginSecret` signed with HMAC-SHA-512.

use super::names::{PLUGIN_SECRET, REMOTE_ID};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use garson_core::integration::Credentials;
use garson_core::platform::{Claim, HookRequest, Verified};
use garson_core::time::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use sha2::Sha512;
use std::borrow::Cow;
use std::time::Duration;

/// How far the platform's clock and ours may be apart.
const LEEWAY: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
struct Header<'a> {
    #[serde(borrow)]
    alg: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Claims<'a> {
    #[serde(borrow)]
    service: Cow<'a, str>,
    /// Seconds since 1970; the platform's tokens mostly have none.
    exp: Option<serde_json::Number>,
}

pub fn claim(request: &HookRequest) -> Claim {
    match (bearer(request), request.param(REMOTE_ID)) {
        (Some(_), Some(branch)) if !branch.is_empty() => Claim::Branch(branch.to_owned()),
        _ => Claim::Nothing,
    }
}

pub fn verify<'a>(request: &'a HookRequest, credentials: &Credentials) -> Option<Verified<'a>> {
    let secret = credentials.get(PLUGIN_SECRET)?.expose();
    // Anybody can sign with an empty key.
    if secret.is_empty() {
        return None;
    }
    let (signed, signature) = bearer(request)?.rsplit_once('.')?;
    let mut mac = Hmac::<Sha512>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(signed.as_bytes());
    let expected = mac.finalize().into_bytes();
    let presented = URL_SAFE_NO_PAD.decode(signature).ok()?;
    // The signature first: what is not signed is not worth reading.
    let verified = Verified::by_secret(request, &presented, &expected)?;
    let (header, claims) = signed.split_once('.')?;
    let header = URL_SAFE_NO_PAD.decode(header).ok()?;
    let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
    let header: Header<'_> = serde_json::from_slice(&header).ok()?;
    let claims: Claims<'_> = serde_json::from_slice(&claims).ok()?;
    let genuine =
        header.alg == "HS512" && claims.service == "middleware" && !is_over(&claims, request.received_at);
    genuine.then_some(verified)
}

fn is_over(claims: &Claims<'_>, now: Timestamp) -> bool {
    let Some(exp) = &claims.exp else {
        return false;
    };
    // Fractions of seconds are cut off; a time beyond all calendars never comes.
    #[allow(clippy::cast_possible_truncation)]
    let seconds = exp
        .as_i64()
        .or_else(|| exp.as_f64().map(|seconds| seconds as i64))
        .unwrap_or(0);
    now > Timestamp::from_millis(seconds.saturating_mul(1_000)).plus(LEEWAY)
}

fn bearer(request: &HookRequest) -> Option<&str> {
    let (scheme, token) = request.header("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}
