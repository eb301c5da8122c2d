//! Events that an account has to opt in to.

use super::names::{MENU_CHANGED, PRODUCT_CHANGED, STORE_CHANGED};

macro_rules! optional_events {
    ($($(#[$meta:meta])* $variant:ident $bit:literal $name:ident,)*) => {
        /// An event that is sent only to accounts that have opted in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum OptionalEvent {
            $($(#[$meta])* $variant,)*
        }

        impl OptionalEvent {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name in `olay`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|event| event.as_str() == name)
            }

            const fn bit(self) -> i64 {
                match self {
                    $(Self::$variant => $bit,)*
                }
            }
        }
    };
}

optional_events! {
    /// A store has opened, closed or become busy.
    Store 1 STORE_CHANGED,
    /// The availability of a product on a platform has changed.
    Product 2 PRODUCT_CHANGED,
    /// The menu of a platform has changed.
    Menu 4 MENU_CHANGED,
}

/// The optional events that an account has opted in to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptionalEvents(i64);

impl OptionalEvents {
    /// From the stored form.
    #[must_use]
    pub const fn from_bits(bits: i64) -> Self {
        Self(bits)
    }

    #[must_use]
    pub const fn bits(self) -> i64 {
        self.0
    }

    #[must_use]
    pub const fn contains(self, event: OptionalEvent) -> bool {
        self.0 & event.bit() != 0
    }

    #[must_use]
    pub const fn with(self, event: OptionalEvent) -> Self {
        Self(self.0 | event.bit())
    }

    pub fn iter(self) -> impl Iterator<Item = OptionalEvent> {
        OptionalEvent::ALL
            .iter()
            .copied()
            .filter(move |event| self.contains(*event))
    }
}

impl FromIterator<OptionalEvent> for OptionalEvents {
    fn from_iter<T: IntoIterator<Item = OptionalEvent>>(events: T) -> Self {
        events.into_iter().fold(Self::default(), Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::NAMES;

    #[test]
    fn optional_events_are_kept_as_bits() {
        let all: OptionalEvents = OptionalEvent::ALL.iter().copied().collect();
        assert_eq!(OptionalEvents::from_bits(all.bits()), all);
        assert_eq!(all.iter().count(), OptionalEvent::ALL.len());
        assert_eq!(OptionalEvents::default().iter().count(), 0);
        for event in OptionalEvent::ALL {
            assert_eq!(OptionalEvent::named(event.as_str()), Some(*event));
            assert!(NAMES.contains(&event.as_str()));
        }
    }
}
