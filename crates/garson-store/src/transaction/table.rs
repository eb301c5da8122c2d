//! The tables with deferred writes. A statement that uses one of them is declared with [`Tx::on`](crate::engine::Tx::on).

use crate::engine::TableSet;

/// Their names, in the order of their bits.
pub const DEFERRED_TABLES: &[&str] = &[
    "accounts",
    "integrations",
    "payment_totals",
    "order_stats",
    "audit_log",
    "audit_chains",
];
pub const ACCOUNTS: TableSet = TableSet::of(0);
pub const INTEGRATIONS: TableSet = TableSet::of(1);
pub const PAYMENT_TOTALS: TableSet = TableSet::of(2);
pub const ORDER_STATS: TableSet = TableSet::of(3);
/// The audit log and the ends of its chains, which are written together.
pub const AUDIT: TableSet = TableSet::of(4).and(TableSet::of(5));
/// For statements on any table.
pub const ALL_TABLES: TableSet = ACCOUNTS
    .and(INTEGRATIONS)
    .and(PAYMENT_TOTALS)
    .and(ORDER_STATS)
    .and(AUDIT);
