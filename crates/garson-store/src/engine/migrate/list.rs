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
    /// The tables of earlier migrations that the script alters or removes. They are reserved first, which makes an automatic vacuum
    /// of PostgreSQL give way.
    pub alters: &'static [&'static str],
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
        // Other nodes are stopped, so it may wait.
        alters: &[],
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

#[cfg(test)]
mod tests {
    use super::MIGRATIONS;
    use crate::engine::migrate::fingerprint;

    /// The SHA-256 of each script. Databases have stored it and are refused if it differs, so a line is never changed once it has
    /// landed. A new migration adds a line.
    const CHECKSUMS: &[(i64, &str)] = &[
        (
            1,
            "4ca78afa2edc8af98ed0c6ba3eafb6a10f1441807555b749adbe7b6f76441b15",
        ),
        (
            2,
            "7e717be40155285c3defed10cbdeef1535aacba172129d16b3a820f2872cc857",
        ),
        (
            3,
            "53dd7904b234d99f2acdbee127ab9db8f530af0ccdb1d1dc24bbba3e6dc1b221",
        ),
        (
            4,
            "49de00559584be0f6fe0c7af725c39e63dbd8a30347993ee3592d5e9437c34ac",
        ),
        (
            5,
            "8b98d5e44d8906475eb90b9bfa4b0b52e6a941cd085ac38261b65a43728d6b47",
        ),
        (
            6,
            "846f0c79e4ab0ce18fef09027310a0b0856cac2d4845ecf3ca6c116a1c460cd2",
        ),
        (
            7,
            "ded6d384c4d80426eb930e34526684ebc078fb457f2aaf5e3932474cccd491af",
        ),
        (
            8,
            "5a931be71292709208f26e873ab99e9bca2160b8a2786b8a5ee41dbd14011f3f",
        ),
        (
            9,
            "7ffd98ec2c2a3fe7f075f8cfbcfdd8a3e0029c5f1ea4aacba3b9091356edd872",
        ),
        (
            10,
            "4fde3ee270068dd3ab99f1236d45abfd7769c52eb2d05c76ab3c6bd419e1cd03",
        ),
        (
            11,
            "bd54a137feb21c7b9530af7796e92ad31cd18de1952b6408f3b6bef61603ed62",
        ),
        (
            12,
            "054fbe20b39c7aeacf681d924c86c66f260329c4228f0d1d960b1d07e728b494",
        ),
        (
            13,
            "c2ee7d85c9947d6d807a9fd9f7ee1bdcb59f579c2c1983b93763c686a66985a4",
        ),
        (
            14,
            "4271fbb6d545c78efbe9b5a4716d3d4e96f18b43cc95972f3ae3aab2313c7d84",
        ),
        (
            15,
            "c2d5a7aea6ce32afd3e94cc459ec68d6aaccf8d38cef8996dfbd8d9dae38f538",
        ),
        (
            16,
            "8fd3d0421c3eefe9e10eca984a836106af251015ccf23b80a2c6a2c5f4a1456a",
        ),
        (
            17,
            "68181eb7f6689b0427c65e9faa25de678af51765f015c90064bab17fd65d63a7",
        ),
        (
            19,
            "63c7268ee0edb35357a213e65f420bd1c5510f60c10d3bfd443e40f489928043",
        ),
        (
            20,
            "5dd30837220afac9227b161d5b25555fdb86ab048be9f28b5f1d394ac67c3975",
        ),
        (
            21,
            "0899d236a8cbd7801bffc3bae1fac952b998d8146ba475065006c10d005f544d",
        ),
        (
            22,
            "6c80a0dd1395974de86a748cc647c456880d4ccc46c66a31366c9ae98e18189e",
        ),
        (
            23,
            "4b4862e5879498f8ab6d500cc773c408abe7e4d884e98fb6c660f548b3d35c18",
        ),
        (
            24,
            "3056e352d8de00388bd5b35d8ffda2ec489062676fa4d8eed225d58463e70d1e",
        ),
        (
            25,
            "8a8733d7ac979fa346d170b605430962a18560aaafa81d0b8d8288f9defe2d05",
        ),
        (
            26,
            "7c60eddc8a7d95b8ad2735709faf4a6a6aa584db8a8244eace1579d613a14ccd",
        ),
    ];

    #[test]
    fn landed_scripts_are_never_edited() {
        let listed: Vec<i64> = MIGRATIONS.iter().map(|migration| migration.number).collect();
        let pinned: Vec<i64> = CHECKSUMS.iter().map(|(number, _)| *number).collect();
        assert_eq!(listed, pinned, "every migration has one line in CHECKSUMS");
        for (migration, (_, checksum)) in MIGRATIONS.iter().zip(CHECKSUMS) {
            assert_eq!(
                fingerprint(migration.script),
                *checksum,
                "the script of migration {} is not the one that has landed",
                migration.number
            );
        }
    }
}
