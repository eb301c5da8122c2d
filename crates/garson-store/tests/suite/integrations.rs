//! Integrations: branches named once in an account, secrets that lead to them, credentials that nobody else can read.

use crate::database::{Bench, Kind, on_postgres};
use crate::fixtures::{DIRECT, GETIR, an_integration, at};
use garson_core::explanation::Explanation;
use garson_core::id::{IntegrationId, PackageId};
use garson_core::integration::{Credentials, Integration};
use garson_core::platform::Provider;
use garson_core::restaurant::Package;
use garson_core::secret::Secret;
use garson_store::tables::integrations::InboundIntegration;
use garson_store::tables::{branches, integrations, packages};
use garson_store::vault::lookup_hash;
use garson_store::{INTEGRATIONS, Result, StoreErrorKind, Tx, Vault, params};
use uuid::Uuid;

const MARKED: &str = "hunter2-çok-gizli-🔑";

fn a_package(providers: Option<Vec<Provider>>, starts: i64, ends: Option<i64>) -> Package {
    Package {
        id: PackageId(Uuid::now_v7()),
        name: "Aylık".to_owned(),
        providers,
        starts_at: at(starts),
        ends_at: ends.map(at),
    }
}

async fn try_save(
    bench: &Bench,
    integration: &Integration,
    credentials: &Credentials,
    inbound: Option<&[u8]>,
) -> Result<()> {
    let (vault, integration, credentials) = (bench.vault.clone(), integration.clone(), credentials.clone());
    let inbound = inbound.map(|secret| Secret::new(secret.to_vec()));
    bench
        .try_write(move |tx| integrations::save(tx, &vault, &integration, &credentials, inbound.as_ref()))
        .await
}

pub async fn a_branch_is_named_once_in_an_account(bench: &Bench) {
    let mine = bench.branch("lokanta").await;
    let second = bench.branch_of(mine.account).await;
    let mut integration = an_integration(mine.account, mine.restaurant, GETIR);
    integration.remote_id = Some("ŞB-1".to_owned());
    try_save(bench, &integration, &Credentials::new(), None)
        .await
        .unwrap();
    let mut other = an_integration(mine.account, second.restaurant, GETIR);
    let (account, id, other_id) = (mine.account, integration.id, other.id);
    let used = bench
        .read(move |tx| {
            Ok([
                branches::is_used_in_account(tx, account, GETIR, "ŞB-1", other_id)?,
                branches::is_used_in_account(tx, account, GETIR, "ŞB-1", id)?,
                branches::is_used_in_account(tx, account, DIRECT, "ŞB-1", other_id)?,
                branches::is_used_in_account(tx, account, GETIR, "ŞB-2", other_id)?,
            ])
        })
        .await;
    assert_eq!(used, [true, false, false, false]);

    other.remote_id = Some("ŞB-1".to_owned());
    let named = try_save(bench, &other, &Credentials::new(), None).await;
    assert_eq!(named.map_err(|e| e.kind), Err(StoreErrorKind::Constraint));
    let doubled = an_integration(mine.account, mine.restaurant, GETIR);
    let doubled = try_save(bench, &doubled, &Credentials::new(), None).await;
    assert_eq!(
        doubled.map_err(|e| e.kind),
        Err(StoreErrorKind::Constraint),
        "one for a platform"
    );
    // Any number may have no branch yet.
    other.remote_id = None;
    try_save(bench, &other, &Credentials::new(), None).await.unwrap();
}

pub async fn shared_secret_finds_all_its_integrations(bench: &Bench) {
    let account = bench.account("zincir").await;
    let mut ids = Vec::new();
    for n in 0..3 {
        let branch = bench.branch_of(account).await;
        let integration = an_integration(account, branch.restaurant, GETIR);
        let secret: &[u8] = if n < 2 { b"shared" } else { b"own" };
        try_save(bench, &integration, &Credentials::new(), Some(secret))
            .await
            .unwrap();
        ids.push(integration.id);
    }
    for (provider, secret, wanted) in [
        (GETIR, "shared", &ids[..2]),
        (GETIR, "own", &ids[2..]),
        (GETIR, "", &[]),
        (DIRECT, "shared", &[]),
    ] {
        let vault = bench.vault.clone();
        let found = bench
            .read(move |tx| integrations::by_secret(tx, &vault, provider, secret.as_bytes()))
            .await;
        let mut found: Vec<_> = found.iter().map(|c| c.connected.integration.id).collect();
        found.sort();
        assert_eq!(found, wanted, "{provider} {secret:?}");
    }
}

/// Three integrations share a secret and a branch; damage to one does not hide the others.
pub async fn unreadable_integration_does_not_hide_others_with_its_secret(bench: &Bench) {
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        let branch = bench.branch(name).await;
        let mut integration = an_integration(branch.account, branch.restaurant, GETIR);
        integration.remote_id = Some("ŞB".to_owned());
        let credentials = Credentials::from([("key".to_owned(), Secret::new("value".to_owned()))]);
        try_save(bench, &integration, &credentials, Some(b"shared"))
            .await
            .unwrap();
        ids.push(integration.id);
    }
    let found = async || {
        let vault = bench.vault.clone();
        let read = move |tx: &mut Tx<'_>| {
            let by_secret = integrations::by_secret(tx, &vault, GETIR, b"shared");
            Ok((by_secret, branches::claims(tx, &vault, GETIR, "ŞB")))
        };
        let (by_secret, by_branch) = bench.read(read).await;
        let ids = |served: Vec<InboundIntegration>| -> Vec<_> {
            served.iter().map(|it| it.connected.integration.id).collect()
        };
        let (by_secret, by_branch) = (by_secret.map(ids), by_branch.map(ids));
        assert_eq!(by_secret, by_branch);
        by_secret
    };
    let damage = async |id: IntegrationId, at: usize| {
        bench
            .write(move |tx| {
                let sql = "SELECT credentials FROM integrations WHERE id = ?1";
                let mut sealed: Vec<u8> = tx
                    .on(INTEGRATIONS)
                    .query_one(sql, params![&id], |row| row.get(0))?;
                sealed[at] ^= 1;
                let sql = "UPDATE integrations SET credentials = ?2 WHERE id = ?1";
                tx.on(INTEGRATIONS).execute(sql, params![&id, &sealed])
            })
            .await
    };
    assert_eq!(found().await.unwrap(), ids);
    // The mark of the key that it was sealed with.
    damage(ids[1], 1).await;
    assert_eq!(found().await.unwrap(), [ids[0], ids[2]]);
    damage(ids[0], 40).await;
    assert_eq!(found().await.unwrap(), [ids[2]]);
    damage(ids[2], 0).await;
    let error = found().await.unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Corrupt, "{error}");
}

pub async fn secrets_are_hashed_under_the_master_key_and_former_hashes_are_found(bench: &Bench) {
    let (first, second) = (bench.branch("a").await, bench.branch("b").await);
    let mut ids = Vec::new();
    for branch in [first, second] {
        let integration = an_integration(branch.account, branch.restaurant, GETIR);
        try_save(bench, &integration, &Credentials::new(), Some(b"12345678"))
            .await
            .unwrap();
        ids.push(integration.id);
    }
    let stored = async || -> Vec<Vec<u8>> {
        bench
            .read(|tx| {
                let sql = "SELECT inbound_hash FROM integrations WHERE inbound_hash IS NOT NULL ORDER BY id";
                tx.query(sql, params![], |row| row.get(0))
            })
            .await
    };
    let (keyed, bare) = (bench.vault.lookup_hash(b"12345678"), lookup_hash(b"12345678"));
    assert_eq!(stored().await, [keyed, keyed]);
    // As an earlier version has written it.
    let former = ids[0];
    bench
        .write(move |tx| {
            let sql = "UPDATE integrations SET inbound_hash = ?2 WHERE id = ?1";
            tx.on(INTEGRATIONS).execute(sql, params![&former, &bare])
        })
        .await;
    let find = async || {
        let vault = bench.vault.clone();
        let found = bench
            .read(move |tx| integrations::by_secret(tx, &vault, GETIR, b"12345678"))
            .await;
        found
            .iter()
            .map(|it| it.connected.integration.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(find().await, ids);
    for id in ids.clone() {
        let (vault, secret) = (bench.vault.clone(), Secret::new(b"12345678".to_vec()));
        let changed = bench
            .write(move |tx| integrations::rehash(tx, &vault, id, &secret))
            .await;
        assert_eq!(changed, id == former);
    }
    assert_eq!(stored().await, [keyed, keyed]);
    assert_eq!(find().await, ids);
}

pub async fn inbound_integration_has_its_restaurants_settings(bench: &Bench) {
    let account = bench.account("zincir").await;
    let mut wanted = Vec::new();
    for n in 0..3_i64 {
        let branch = bench.branch_of(account).await;
        let mut integration = an_integration(account, branch.restaurant, GETIR);
        integration.remote_id = Some(format!("Ş-{n}"));
        try_save(bench, &integration, &Credentials::new(), Some(b"shared"))
            .await
            .unwrap();
        let mut booked: Vec<Package> = (0..n).map(|k| a_package(None, k, Some(k + 1))).collect();
        booked.sort_by_key(|package| package.id);
        let config = (n > 0).then(|| format!("{{\"preparationMinutes\":{n}}}"));
        let (restaurant, list, text) = (branch.restaurant, booked.clone(), config.clone());
        bench
            .write(move |tx| {
                let sql = "UPDATE restaurants SET config = ?2 WHERE id = ?1";
                tx.execute(sql, params![&restaurant, text.as_ref()])?;
                packages::replace(tx, restaurant, &list)
            })
            .await;
        let vault = bench.vault.clone();
        let by_branch = bench
            .read(move |tx| branches::claims(tx, &vault, GETIR, &format!("Ş-{n}")))
            .await
            .remove(0);
        let stands = bench.read(move |tx| packages::settings(tx, restaurant)).await;
        for standing in [&by_branch.settings, &stands] {
            assert_eq!((&standing.packages, &standing.config), (&booked, &config));
        }
        wanted.push((integration.id, booked, config));
    }
    let vault = bench.vault.clone();
    let found = bench
        .read(move |tx| integrations::by_secret(tx, &vault, GETIR, b"shared"))
        .await;
    let mut found: Vec<_> = found
        .into_iter()
        .map(|it| {
            (
                it.connected.integration.id,
                it.settings.packages,
                it.settings.config,
            )
        })
        .collect();
    found.sort_by_key(|(id, ..)| *id);
    wanted.sort_by_key(|(id, ..)| *id);
    assert_eq!(found, wanted);
}

pub async fn credentials_are_sealed_and_recovered_unchanged(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let integration = an_integration(branch.account, branch.restaurant, GETIR);
    let secret = |text: &str| Secret::new(text.to_owned());
    let credentials = Credentials::from([
        ("password".to_owned(), secret(MARKED)),
        ("ğ".to_owned(), secret("")),
        ("json".to_owned(), secret("{\"a\": 1.0}\u{1}\n")),
    ]);
    try_save(bench, &integration, &credentials, Some(MARKED.as_bytes()))
        .await
        .unwrap();
    let (id, vault) = (integration.id, bench.vault.clone());
    let found = bench
        .read(move |tx| integrations::by_id(tx, &vault, id))
        .await
        .unwrap();
    assert!(found.credentials == credentials);
    assert!(found.integration.has_credentials);

    assert!(
        !holds(&stored_bytes(bench), MARKED.as_bytes()),
        "a secret lies open"
    );
    assert!(
        holds(&stored_bytes(bench), "Şube".as_bytes()),
        "the search would find what is open"
    );

    let wrong = Vault::new(&Secret::new([8; 32]));
    let refused = bench
        .engine
        .read(move |tx| integrations::by_id(tx, &wrong, id))
        .await;
    let error = refused.map(drop).unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Corrupt);
    assert!(error.to_string().contains("another master key"), "{error}");
    assert!(!error.to_string().contains(MARKED));
}

/// Everything that lies on the disk: of SQLite all files, of PostgreSQL every row as the server holds it.
fn stored_bytes(bench: &Bench) -> Vec<u8> {
    match bench.kind {
        Kind::Sqlite => {
            let path = bench.sqlite_path();
            let connection = rusqlite::Connection::open(&path).unwrap();
            connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
                .unwrap();
            let mut all = Vec::new();
            for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
                all.extend(std::fs::read(file.unwrap().path()).unwrap());
            }
            all
        }
        Kind::Postgres => on_postgres(&bench.postgres_url(), |client| {
            let mut all = Vec::new();
            client.batch_execute("CHECKPOINT").unwrap();
            for table in garson_store::tables::schema::TABLES {
                let sql = format!("SELECT pg_relation_filepath('{}')", table.name);
                let path: String = client.query_one(&sql, &[]).unwrap().get(0);
                let bytes: Vec<u8> = client
                    .query_one("SELECT pg_read_binary_file($1)", &[&path])
                    .unwrap()
                    .get(0);
                all.extend(bytes);
            }
            all
        }),
    }
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

pub async fn health_and_active_state_are_stored(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let id = branch.integration;
    bench
        .write(move |tx| {
            integrations::record_order(tx, id, None, at(1))?;
            integrations::record_trouble(tx, id, &Explanation::text("401 🔒"), at(1))?;
            integrations::record_error(tx, id, &Explanation::text("409 🔒"), at(2))?;
            integrations::set_active(tx, id, false, at(3))
        })
        .await;
    let restaurant = branch.restaurant;
    let found = bench
        .read(move |tx| integrations::of_restaurant(tx, restaurant))
        .await;
    assert_eq!(found.len(), 1);
    let health = &found[0].health;
    assert_eq!(
        (
            health.last_order_at,
            health.last_error_at,
            health.last_error.clone(),
            health.trouble_at,
        ),
        (
            Some(at(1)),
            Some(at(2)),
            Some(Explanation::text("409 🔒")),
            Some(at(1))
        )
    );
    assert_eq!((found[0].is_active, found[0].updated_at), (false, at(3)));
    bench.write(move |tx| integrations::delete(tx, id)).await;
    let vault = bench.vault.clone();
    assert!(
        bench
            .read(move |tx| integrations::find(tx, &vault, restaurant, DIRECT))
            .await
            .is_none()
    );
}

pub async fn only_uncovered_restaurants_have_an_ended_package(bench: &Bench) {
    let account = bench.account("zincir").await;
    let cases = [
        ("no package at all", vec![], false),
        ("open-ended", vec![a_package(None, 0, None)], false),
        ("ends later", vec![a_package(None, 0, Some(101))], false),
        ("ended", vec![a_package(None, 0, Some(100))], true),
        (
            "ended, but another covers it",
            vec![
                a_package(None, 0, Some(50)),
                a_package(Some(vec![GETIR, DIRECT]), 50, None),
            ],
            false,
        ),
        (
            "another covers another platform",
            vec![
                a_package(None, 0, Some(50)),
                a_package(Some(vec![GETIR]), 50, None),
            ],
            true,
        ),
        (
            "another covers a platform of a longer name",
            vec![
                a_package(None, 0, Some(50)),
                a_package(Some(vec![Provider::new("directx")]), 50, None),
            ],
            true,
        ),
        (
            "another begins later",
            vec![a_package(None, 0, Some(50)), a_package(None, 101, None)],
            true,
        ),
    ];
    let mut wanted = Vec::new();
    for (name, booked, is_ended) in cases {
        let branch = bench.branch_of(account).await;
        let (restaurant, list) = (branch.restaurant, booked.clone());
        bench
            .write(move |tx| packages::replace(tx, restaurant, &list))
            .await;
        let mut stored = bench
            .read(move |tx| packages::of_restaurant(tx, restaurant))
            .await;
        let mut booked = booked;
        booked.sort_by_key(|p| p.id);
        stored.sort_by_key(|p| p.id);
        assert_eq!(stored, booked, "{name}");
        if is_ended {
            wanted.push(branch);
        }
    }
    let off = wanted.pop().unwrap().integration;
    bench
        .write(move |tx| integrations::set_active(tx, off, false, at(1)))
        .await;
    let ended = bench
        .read(|tx| integrations::with_ended_package(tx, at(100), 100))
        .await;
    let mut ended: Vec<_> = ended.iter().map(|(_, restaurant)| *restaurant).collect();
    ended.sort();
    let mut wanted: Vec<_> = wanted.iter().map(|branch| branch.restaurant).collect();
    wanted.sort();
    assert_eq!(ended, wanted);
    let some = bench
        .read(|tx| integrations::with_ended_package(tx, at(100), 1))
        .await;
    assert_eq!(some.len(), 1);
}

/// Neither within a transaction nor from one to the next.
pub async fn last_order_time_never_decreases(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let id = branch.integration;
    let last_order_at = async || {
        let of = branch.restaurant;
        let found = bench.read(move |tx| integrations::of_restaurant(tx, of)).await;
        found[0].health.last_order_at
    };
    for (moments, expected) in [
        ([5_000, 9_000], 9_000),
        ([7_000, 3_000], 9_000),
        ([9_001, 4_000], 9_001),
        ([1_000, 9_500], 9_500),
    ] {
        bench
            .write(move |tx| {
                for moment in moments {
                    assert!(integrations::record_order(tx, id, None, at(moment))?);
                }
                Ok(())
            })
            .await;
        assert_eq!(last_order_at().await, Some(at(expected)), "after {moments:?}");
    }
}
