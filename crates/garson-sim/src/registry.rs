//! The implementation of each simulated platform.

use serde_json::Value;

use crate::{
    platform::{Platform, for_each_platform},
    simulated_platform::SimulatedPlatform,
};

macro_rules! define_registry {
    ($($variant:ident $module:ident,)*) => {
        pub(crate) fn of(platform: Platform) -> &'static dyn SimulatedPlatform {
            match platform {
                $(Platform::$variant => &crate::$module::$variant,)*
            }
        }
    };
}

for_each_platform!(define_registry);

/// A store for demonstrations: its remote id and its credentials, by the names that the service uses.
pub fn sample_store(platform: Platform, number: u32) -> (String, Value) {
    of(platform).sample_store(number)
}
