//! Every column that holds values sealed with the master key: the one list that rotation, export and import share.
//!
//! A test compares it with the schema: a new column of bytes is either listed here, or named like an id or a hash.

use crate::tables::{channels, erasures, keys, restaurants, users, webhook_endpoints};
use crate::vault;

/// A column with sealed values. A value is bound to its place and to the value of another column of its row.
#[derive(Clone, Copy, Debug)]
pub struct SealedColumn {
    pub table: &'static str,
    pub column: &'static str,
    pub place: &'static str,
    /// The column whose value names the record.
    pub record: &'static str,
}

/// Where the vault says that the responses to keyed requests are stored.
pub const RESPONSES: &str = "idempotency/body";

pub const SEALED: &[SealedColumn] = &[
    SealedColumn {
        table: "api_keys",
        column: "sealed",
        place: keys::SEALED,
        record: "id",
    },
    SealedColumn {
        table: "integrations",
        column: "credentials",
        place: vault::CREDENTIALS,
        record: "id",
    },
    SealedColumn {
        table: "restaurants",
        column: "payment_matching_headers",
        place: restaurants::HEADERS,
        record: "id",
    },
    SealedColumn {
        table: "channels",
        column: "target",
        place: channels::TARGET,
        record: "id",
    },
    SealedColumn {
        table: "idempotency",
        column: "body",
        place: RESPONSES,
        record: "key_hash",
    },
    SealedColumn {
        table: "users",
        column: "totp",
        place: users::TOTP,
        record: "id",
    },
    SealedColumn {
        table: "users",
        column: "totp_new",
        place: users::TOTP,
        record: "id",
    },
    SealedColumn {
        table: "erasures",
        column: "query",
        place: erasures::QUERY,
        record: "id",
    },
    SealedColumn {
        table: "webhook_endpoints",
        column: "token",
        place: webhook_endpoints::TOKEN,
        record: "id",
    },
    SealedColumn {
        table: "webhook_endpoints",
        column: "secret",
        place: webhook_endpoints::SECRET,
        record: "id",
    },
    SealedColumn {
        table: "webhook_endpoints",
        column: "old_secret",
        place: webhook_endpoints::OLD_SECRET,
        record: "id",
    },
];
