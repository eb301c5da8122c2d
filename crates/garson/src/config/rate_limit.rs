//! Rate limits as they are written in the settings.

use std::num::NonZeroU32;

/// How many requests a key or an account may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    pub per_second: NonZeroU32,
    pub burst: NonZeroU32,
}

impl RateLimit {
    pub(super) fn read(text: &str) -> Result<Option<Self>, &'static str> {
        if text == "off" {
            return Ok(None);
        }
        let number = |text: &str| text.trim().parse::<NonZeroU32>().map_err(|_| "not a number");
        let (rate, burst) = text.split_once('/').ok_or("no burst")?;
        Ok(Some(Self {
            per_second: number(rate)?,
            burst: number(burst)?,
        }))
    }
}
