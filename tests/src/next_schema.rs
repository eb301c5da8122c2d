//! The migrations that a later version of the program could have: of each kind, with steps. For tests of upgrades.

use garson_store::engine::{MIGRATIONS, Migration, MigrationKind, Step};

pub const EXPAND: i64 = 1001;
pub const CONTRACT: i64 = 1002;

const LATER: [Migration; 2] = [
    Migration {
        number: EXPAND,
        name: "later_expand",
        kind: MigrationKind::Expand { needs: 26 },
        script: "ALTER TABLE orders ADD COLUMN later_total BIGINT;
                 CREATE TABLE later_orders (id {blob} PRIMARY KEY);",
        alters: &["orders"],
        steps: &[
            Step::Index {
                name: "later_orders_by_total",
                on: "orders (account_id, later_total)",
                is_unique: false,
            },
            Step::Fill {
                table: "orders",
                key: "id",
                set: "later_total = total * 2",
                condition: "later_total IS NULL",
            },
        ],
    },
    Migration {
        number: CONTRACT,
        name: "later_contract",
        kind: MigrationKind::Contract { needs: EXPAND },
        script: "DROP TABLE later_orders;",
        alters: &["later_orders"],
        steps: &[],
    },
];

/// All migrations of the later version.
pub fn migrations() -> &'static [Migration] {
    let all: Vec<Migration> = MIGRATIONS.iter().chain(&LATER).copied().collect();
    Box::leak(all.into_boxed_slice())
}
