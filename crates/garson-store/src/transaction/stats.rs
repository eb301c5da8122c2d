//! Counts of orders and where they are added.

use std::collections::BTreeMap;
use uuid::Uuid;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatKind {
    Sale,
    Cancel,
    /// The time from arrival to acceptance.
    Accept,
    /// The time from acceptance until the order was ready.
    Prepare,
}

impl StatKind {
    const ALL: [Self; 4] = [Self::Sale, Self::Cancel, Self::Accept, Self::Prepare];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sale => "sale",
            Self::Cancel => "cancel",
            Self::Accept => "accept",
            Self::Prepare => "prepare",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// What is counted, its label, and the half hour of its row.
pub type CountKey = (StatKind, String, u8);

/// Numbers of orders and sums.
pub type Counts = BTreeMap<CountKey, (i64, i64)>;

/// The row to which counts are added. Rows are written in this order, the same in every transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatKey {
    /// The id of an account or a restaurant.
    pub scope: Uuid,
    /// Three hours, counted since 1970.
    pub span: i64,
}
