//! Flash messages: shown once, on the page after a redirect. They travel in a cookie that is signed for the session.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const MAX_CHARACTERS: usize = 500;
pub const SECONDS: u32 = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashKind {
    Notice,
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flash {
    pub kind: FlashKind,
    pub text: String,
}

/// Binds a message to the session, so that no other site can plant one.
fn signature(session: &str, message: &str) -> String {
    let digest = Sha256::new()
        .chain_update("flash")
        .chain_update(message)
        .chain_update(session)
        .finalize();
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

impl Flash {
    pub fn notice(text: impl Into<String>) -> Self {
        Self {
            kind: FlashKind::Notice,
            text: text.into(),
        }
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self {
            kind: FlashKind::Error,
            text: text.into(),
        }
    }

    pub fn is_error(&self) -> bool {
        self.kind == FlashKind::Error
    }

    /// The value of the cookie.
    pub fn write(&self, session: &str) -> String {
        let mark = match self.kind {
            FlashKind::Notice => '+',
            FlashKind::Error => '-',
        };
        let text: String = std::iter::once(mark)
            .chain(self.text.chars().take(MAX_CHARACTERS))
            .collect();
        let message = URL_SAFE_NO_PAD.encode(text);
        format!("{message}.{}", signature(session, &message))
    }

    pub fn read(session: &str, cookie: &str) -> Option<Self> {
        let (message, given) = cookie.split_once('.')?;
        if !bool::from(signature(session, message).as_bytes().ct_eq(given.as_bytes())) {
            return None;
        }
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(message).ok()?).ok()?;
        match text.split_at_checked(1)? {
            ("+", text) => Some(Self::notice(text)),
            ("-", text) => Some(Self::error(text)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_is_read_by_its_own_session_only() {
        let flash = Flash::error("Sipariş „1“ iptal edilemedi; <b>");
        let written = flash.write("mine");
        assert!(
            written
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        );
        assert_eq!(Flash::read("mine", &written), Some(flash));
        assert_eq!(Flash::read("yours", &written), None);
        assert_eq!(Flash::read("mine", "x.y"), None);
    }
}
