//! Sets of the tables whose writes a transaction may defer.

/// A set of the tables in [`Hooks::TABLES`](super::Hooks::TABLES).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSet(u8);

impl TableSet {
    pub const EMPTY: Self = Self(0);

    /// The table at an index of [`Hooks::TABLES`](super::Hooks::TABLES).
    #[must_use]
    pub const fn of(index: u8) -> Self {
        Self(1 << index)
    }

    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}
