//! Price changes on a platform, and their results.

use crate::explanation::Explanation;
use crate::money::Minor;

/// New prices for products or options of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceChange {
    /// Not empty, and not more than [`PriceSupport::per_call`].
    ///
    /// [`PriceSupport::per_call`]: crate::platform::PriceSupport::per_call
    pub prices: Vec<NewPrice>,
    /// Which branches the change affects. It must equal the platform's [`PriceSupport::scope`]: a change of a whole chain has to be
    /// requested explicitly.
    ///
    /// [`PriceSupport::scope`]: crate::platform::PriceSupport::scope
    pub scope: PriceScope,
    /// Identifies this change, for platforms that require a number.
    pub reference: String,
    pub now: crate::time::Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPrice {
    /// The product's or option's id in the platform's menu.
    pub id: String,
    pub is_option: bool,
    pub price: Minor,
}

/// Which branches a price change affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceScope {
    /// One branch.
    Branch,
    /// Every branch of the chain.
    Chain,
}

/// The result of a price change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PricesChanged {
    /// All are changed, except these.
    Done { failed: Vec<PriceFailure> },
    /// The platform is processing them; [`Platform::read_prices`] reads the result.
    ///
    /// [`Platform::read_prices`]: crate::platform::Platform::read_prices
    Queued { batch: String },
}

/// A price that was not changed, with the platform's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceFailure {
    /// The item's id; none if the platform does not name it.
    pub id: Option<String>,
    pub message: Explanation,
}

/// The progress of a batch of prices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchReading {
    InProgress {
        /// The platform's own word.
        word: Option<String>,
    },
    Done {
        failed: Vec<PriceFailure>,
    },
    /// The platform no longer has the batch.
    Gone,
}
