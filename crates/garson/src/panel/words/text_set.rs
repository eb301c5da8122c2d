//! The macro that declares texts in both languages.

/// Declares a set of texts: `name: "Turkish" | "English"`.
macro_rules! text_set {
    ($(#[$doc:meta])* $set:ident { $($name:ident: $tr:literal | $en:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $set {
            $(pub $name: &'static str,)*
        }

        impl $set {
            pub const fn of(lang: $crate::panel::words::lang::Lang) -> Self {
                match lang {
                    $crate::panel::words::lang::Lang::Tr => Self { $($name: $tr,)* },
                    $crate::panel::words::lang::Lang::En => Self { $($name: $en,)* },
                }
            }
        }
    };
}
pub(super) use text_set;
