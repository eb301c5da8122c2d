//! Secrets that cannot be guessed.

use crate::flow::Fault;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use garson_core::secret::Secret;
use garson_store::StoreError;

#[expect(clippy::disallowed_methods, reason = "needs real randomness")]
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Fault> {
    let mut random = [0; N];
    getrandom::fill(&mut random)
        .map_err(|_| Fault::Store(StoreError::unavailable("no randomness to be had")))?;
    Ok(random)
}

/// A secret that cannot be guessed, as text that may be a part of a URL.
pub(crate) fn random_text() -> Result<Secret<String>, Fault> {
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(random::<32>()?)))
}

/// A password that nobody has thought of.
pub fn random_password() -> Result<Secret<String>, Fault> {
    let text = random_text()?;
    Ok(Secret::new(text.expose().chars().take(20).collect()))
}
