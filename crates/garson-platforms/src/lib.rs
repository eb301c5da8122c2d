//! The connectors: one folder for each platform, with the same file names in each, and no I/O.

mod common;
pub mod direct;
pub mod getir;
pub mod migros;
pub mod trendyol;
pub mod yemeksepeti;

use garson_core::platform::{Platform, Provider};

/// The registry of connectors. A new platform is a folder with its `mod` line above, and a line here.
static PLATFORMS: &[&dyn Platform] = &[
    &direct::Direct,
    &getir::Getir,
    &migros::Migros,
    &trendyol::Trendyol,
    &yemeksepeti::Yemeksepeti,
];

/// The platforms, in the order in which they are listed.
#[must_use]
pub fn all() -> &'static [&'static dyn Platform] {
    PLATFORMS
}

/// The platform of that key.
#[must_use]
pub fn find(key: &str) -> Option<&'static dyn Platform> {
    PLATFORMS
        .iter()
        .copied()
        .find(|platform| platform.provider().as_str() == key)
}

/// The platform of a stored key.
#[must_use]
pub fn of(provider: Provider) -> Option<&'static dyn Platform> {
    find(provider.as_str())
}

#[cfg(test)]
mod tolerance_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart() {
        for (index, platform) in all().iter().enumerate() {
            let first = all()
                .iter()
                .position(|other| other.provider() == platform.provider());
            assert_eq!(first, Some(index));
            assert!(of(platform.provider()).is_some());
        }
        assert!(find("nobody").is_none());
    }
}
