//! Access to the word index by position.

use crate::engine::Param;
use crate::engine::in_list::filled;
use garson_core::id::AccountId;

/// How many orders one statement reads.
pub const PER_STATEMENT: usize = 32;

/// The parameters of a statement for an account and [`PER_STATEMENT`] positions.
pub fn params_of<'a>(account: &'a AccountId, positions: &[i64]) -> Vec<Param<'a>> {
    let positions = filled(positions, PER_STATEMENT).map(|position| Param::from(*position));
    std::iter::once(Param::from(account)).chain(positions).collect()
}
