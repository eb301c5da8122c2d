//! The simulated platforms by name.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Calls a macro with every simulated platform: its variant of [`Platform`] and its module, which has a struct of the variant's
/// name. A new platform is one line here.
macro_rules! for_each_platform {
    ($then:ident) => {
        $then! {
            Getir getir,
            Yemeksepeti yemeksepeti,
            Trendyol trendyol,
            Migros migros,
        }
    };
}
pub(crate) use for_each_platform;

macro_rules! define_platform {
    ($($variant:ident $module:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Platform {
            $($variant,)*
        }

        impl Platform {
            pub const ALL: [Platform; [$(stringify!($module)),*].len()] = [$(Self::$variant),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($module),)*
                }
            }
        }
    };
}

for_each_platform!(define_platform);

impl fmt::Display for Platform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Platform {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|platform| platform.name() == text)
            .ok_or_else(|| {
                format!(
                    "no platform {text}; there are {}",
                    Self::ALL.map(Self::name).join(", ")
                )
            })
    }
}
