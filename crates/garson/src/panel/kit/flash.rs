//! What has just been done, or could not be, said once on the page that comes next.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const MAX_CHARACTERS: usize = 500;
pub const SECONDS: u32 = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
}

/// Something to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flash {
    pub tone: Tone,
    pub text: String,
}

/// Only we can have said it, to the holder of this session.
fn seal(session: &str, said: &str) -> String {
    let digest = Sha256::new()
        .chain_update("flash")
        .chain_update(said)
        .chain_update(session)
        .finalize();
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

impl Flash {
    pub fn good(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Good,
            text: text.into(),
        }
    }

    pub fn bad(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Bad,
            text: text.into(),
        }
    }

    pub fn is_bad(&self) -> bool {
        self.tone == Tone::Bad
    }

    /// As it is kept in the browser until the next page.
    pub fn write(&self, session: &str) -> String {
        let mark = match self.tone {
            Tone::Good => '+',
            Tone::Bad => '-',
        };
        let text: String = std::iter::once(mark)
            .chain(self.text.chars().take(MAX_CHARACTERS))
            .collect();
        let said = URL_SAFE_NO_PAD.encode(text);
        format!("{said}.{}", seal(session, &said))
    }

    pub fn read(session: &str, cookie: &str) -> Option<Self> {
        let (said, given) = cookie.split_once('.')?;
        if !bool::from(seal(session, said).as_bytes().ct_eq(given.as_bytes())) {
            return None;
        }
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(said).ok()?).ok()?;
        match text.split_at_checked(1)? {
            ("+", text) => Some(Self::good(text)),
            ("-", text) => Some(Self::bad(text)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_to_one_session_is_read_by_it_alone() {
        let flash = Flash::bad("Sipariş „1“ iptal edilemedi; <b>");
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
