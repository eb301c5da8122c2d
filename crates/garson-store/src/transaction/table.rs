//! The tables with deferred writes. A statement that uses one of them is declared with [`Tx::on`](crate::engine::Tx::on).

use crate::engine::TableSet;

/// Their names, in the order of their bits.
pub const DEFERRED_TABLES: &[&str] = &["accounts", "integrations", "payment_totals", "order_stats"];
pub const ACCOUNTS: TableSet = TableSet::of(0);
pub const INTEGRATIONS: TableSet = TableSet::of(1);
pub const PAYMENT_TOTALS: TableSet = TableSet::of(2);
pub const ORDER_STATS: TableSet = TableSet::of(3);
/// For statements on any table.
pub const ALL_TABLES: TableSet = ACCOUNTS.and(INTEGRATIONS).and(PAYMENT_TOTALS).and(ORDER_STATS);
