//! The list of migrations, and what a migration consists of.

/// A change of the schema.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Never reused.
    pub number: i64,
    pub name: &'static str,
    pub kind: MigrationKind,
    /// Runs in one transaction. It never changes once it has been released.
    pub script: &'static str,
    /// What takes long in a large database, and is done while nodes run.
    pub steps: &'static [Step],
}

/// Which programs can use the database while a migration is applied, and afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationKind {
    /// Only those that know it: all other nodes must be stopped.
    Offline,
    /// Those that know the migration `needs`. It only adds what they can ignore: tables, indexes, and columns that may be NULL or have
    /// a default.
    Expand { needs: i64 },
    /// Those that know the migration `needs`, and no longer use what it removes. It is applied when all nodes know it, and when the
    /// steps of the migrations before it are done; until then, programs work without it.
    Contract { needs: i64 },
}

/// A part of a migration that runs in the background on PostgreSQL, and at the start on SQLite if it is an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An index, without its name: `on` is such as `orders (account_id, id)`.
    Index {
        name: &'static str,
        on: &'static str,
        is_unique: bool,
    },
    /// Sets columns of rows that still need it, in chunks. The program writes rows that need it no more; rows that an earlier program
    /// writes meanwhile are found by another pass.
    Fill {
        table: &'static str,
        /// The column by which the rows are visited: the primary key, 16 bytes.
        key: &'static str,
        /// Such as `total_net = total - fee`.
        set: &'static str,
        /// Which rows need it, such as `total_net IS NULL`.
        condition: &'static str,
    },
}

impl Step {
    /// What the step is called in logs and reports.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Index { name, .. } => format!("index {name}"),
            Self::Fill { table, set, .. } => format!("fill {table}: {set}"),
        }
    }

    /// The statement that makes an index; `how` stands before its name.
    pub(crate) fn index_sql(&self, how: &str) -> Option<String> {
        let Self::Index { name, on, is_unique } = self else {
            return None;
        };
        let unique = if *is_unique { "UNIQUE " } else { "" };
        Some(format!("CREATE {unique}INDEX {how} {name} ON {on}"))
    }
}

const fn offline(number: i64, name: &'static str, script: &'static str) -> Migration {
    Migration {
        number,
        name,
        kind: MigrationKind::Offline,
        script,
        steps: &[],
    }
}

/// The migrations of this program, in order. All up to 26 need other nodes to be stopped: programs before it do not know which later
/// migrations they can work with.
pub const MIGRATIONS: &[Migration] = &[
    offline(
        1,
        "first_floor",
        include_str!("../../../migrations/0001_first_floor.sql"),
    ),
    offline(2, "panel", include_str!("../../../migrations/0002_panel.sql")),
    offline(3, "status", include_str!("../../../migrations/0003_status.sql")),
    offline(4, "speed", include_str!("../../../migrations/0004_speed.sql")),
    offline(5, "writer", include_str!("../../../migrations/0005_writer.sql")),
    offline(
        6,
        "idempotency_runs",
        include_str!("../../../migrations/0006_idempotency_runs.sql"),
    ),
    offline(
        7,
        "branches",
        include_str!("../../../migrations/0007_branches.sql"),
    ),
    offline(
        8,
        "call_queues",
        include_str!("../../../migrations/0008_call_queues.sql"),
    ),
    offline(
        9,
        "revisions",
        include_str!("../../../migrations/0009_revisions.sql"),
    ),
    offline(
        10,
        "order_lists",
        include_str!("../../../migrations/0010_order_lists.sql"),
    ),
    offline(
        11,
        "escalation",
        include_str!("../../../migrations/0011_escalation.sql"),
    ),
    offline(
        12,
        "printers",
        include_str!("../../../migrations/0012_printers.sql"),
    ),
    offline(
        13,
        "presence",
        include_str!("../../../migrations/0013_presence.sql"),
    ),
    offline(
        14,
        "order_notices",
        include_str!("../../../migrations/0014_order_notices.sql"),
    ),
    offline(
        15,
        "reports",
        include_str!("../../../migrations/0015_reports.sql"),
    ),
    offline(16, "stores", include_str!("../../../migrations/0016_stores.sql")),
    offline(
        17,
        "products",
        include_str!("../../../migrations/0017_products.sql"),
    ),
    offline(
        19,
        "operators",
        include_str!("../../../migrations/0019_operators.sql"),
    ),
    offline(20, "users", include_str!("../../../migrations/0020_users.sql")),
    offline(
        21,
        "audit_and_privacy",
        include_str!("../../../migrations/0021_audit_and_privacy.sql"),
    ),
    offline(
        22,
        "webhook_endpoints",
        include_str!("../../../migrations/0022_webhook_endpoints.sql"),
    ),
    offline(
        23,
        "key_access",
        include_str!("../../../migrations/0023_key_access.sql"),
    ),
    offline(24, "openid", include_str!("../../../migrations/0024_openid.sql")),
    offline(
        25,
        "request_log",
        include_str!("../../../migrations/0025_request_log.sql"),
    ),
    offline(
        26,
        "schema_steps",
        include_str!("../../../migrations/0026_schema_steps.sql"),
    ),
];
