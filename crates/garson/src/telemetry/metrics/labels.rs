//! Label sets: enums whose variants are label values, and one label set for each platform.

use garson_core::platform::Provider;

pub type Labels = Vec<(&'static str, String)>;

/// An enum whose variants are the values of a label.
macro_rules! label_values {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$about])* $variant,)*
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}
pub(super) use label_values;

/// A platform's index among all platforms.
pub fn platform_index(provider: Provider) -> Option<usize> {
    let all = garson_platforms::all();
    all.iter().position(|platform| platform.provider() == provider)
}

/// One label set for each value.
pub fn label<S: Into<String>>(name: &'static str, values: impl IntoIterator<Item = S>) -> Vec<Labels> {
    values
        .into_iter()
        .map(|value| vec![(name, value.into())])
        .collect()
}

/// One label set for each platform.
pub fn providers() -> Vec<Labels> {
    let all = garson_platforms::all().iter();
    label("provider", all.map(|platform| platform.provider().to_string()))
}

/// Each label set of the first list combined with each of the second.
pub fn label_product(first: &[Labels], second: &[Labels]) -> Vec<Labels> {
    let with_each = |one: &Labels| {
        let one = one.clone();
        second.iter().map(move |other| [one.as_slice(), other].concat())
    };
    first.iter().flat_map(with_each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn product_lists_the_second_set_within_the_first() {
        let rows = label_product(&label("a", ["1", "2"]), &label("b", ["x", "y"]));
        let third = vec![("a", "2".to_owned()), ("b", "x".to_owned())];
        assert_eq!(rows.get(2), Some(&third));
        assert_eq!(rows.len(), 4);
    }
}
