//! API keys: found by hash, recoverable, always one primary and never none at all.

use crate::database::Bench;
use crate::fixtures::at;
use garson_core::account::{ApiKey, IssuedKey};
use garson_core::id::{AccountId, KeyId, RestaurantId};
use garson_core::key_access::{KeyAccess, Scope};
use garson_core::permission::RestaurantScope;
use garson_core::secret::Secret;
use garson_store::tables::keys;
use garson_store::tables::keys::Revoked;
use garson_store::vault::lookup_hash;
use garson_store::{Engine, Partition};

fn a_key(text: &str, millis: i64) -> IssuedKey {
    IssuedKey {
        record: ApiKey {
            id: KeyId::at(at(millis)),
            label: Some("kasa".to_owned()),
            hint: text.chars().rev().take(4).collect(),
            is_primary: false,
            access: KeyAccess::default(),
            expires_at: None,
            replaced_by: None,
            created_at: at(millis),
            last_used_at: None,
            last_used_from: None,
        },
        secret: Secret::new(text.to_owned()),
    }
}

async fn issue_on(bench: &Bench, engine: &Engine, lane: u64, account: AccountId, key: IssuedKey) -> ApiKey {
    let vault = bench.vault.clone();
    engine
        .write(Partition::numbered(lane), move |tx| {
            keys::issue(tx, &vault, account, &key)
        })
        .await
        .unwrap()
}

async fn issue(bench: &Bench, account: AccountId, text: &str, millis: i64) -> ApiKey {
    issue_on(bench, &bench.engine, 0, account, a_key(text, millis)).await
}

async fn primary(bench: &Bench, account: AccountId) -> Option<String> {
    let vault = bench.vault.clone();
    let found = bench.read(move |tx| keys::primary(tx, &vault, account)).await;
    found.map(|secret| secret.expose().clone())
}

async fn revoke(bench: &Bench, account: AccountId, id: KeyId) -> Revoked {
    bench.write(move |tx| keys::revoke(tx, account, id)).await
}

pub async fn key_is_found_by_hash_and_can_be_recovered(bench: &Bench) {
    let account = bench.account("lokanta").await;
    assert_eq!(primary(bench, account).await, None);
    let key = issue(bench, account, "garson_ğ_1", 1).await;
    let found = bench
        .read(|tx| keys::find(tx, &lookup_hash("garson_ğ_1".as_bytes())))
        .await;
    assert_eq!(found, Some((account, key.clone())));
    assert!(key.is_primary);
    let unknown = bench.read(|tx| keys::find(tx, &lookup_hash(b"garson_2"))).await;
    assert_eq!(unknown, None);
    assert_eq!(primary(bench, account).await.as_deref(), Some("garson_ğ_1"));
    let id = key.id;
    bench
        .write(move |tx| keys::record_use(tx, id, at(9), Some("192.0.2.7")))
        .await;
    let listed = bench.read(move |tx| keys::list(tx, account)).await;
    assert_eq!(
        listed
            .iter()
            .map(|k| (
                k.id,
                k.label.as_deref(),
                k.last_used_at,
                k.last_used_from.as_deref()
            ))
            .collect::<Vec<_>>(),
        [(id, Some("kasa"), Some(at(9)), Some("192.0.2.7"))]
    );
    let vault = bench.vault.clone();
    let twice = bench
        .try_write(move |tx| keys::issue(tx, &vault, account, &a_key("garson_ğ_1", 2)))
        .await;
    assert!(twice.is_err(), "two keys with one hash");
}

pub async fn newest_key_becomes_primary_after_a_revocation(bench: &Bench) {
    let (account, stranger) = (bench.account("lokanta").await, bench.account("yabanci").await);
    let mut all = Vec::new();
    for (n, text) in ["k1", "k2", "k3", "k4"].into_iter().enumerate() {
        let key = issue(bench, account, text, i64::try_from(n).unwrap() * 10).await;
        assert_eq!(key.is_primary, n == 0, "the first is primary");
        all.push(key.id);
    }
    let foreign = issue(bench, stranger, "f1", 1).await;
    assert_eq!(revoke(bench, account, foreign.id).await, Revoked::NotFound);
    assert_eq!(revoke(bench, stranger, all[1]).await, Revoked::NotFound);
    assert_eq!(revoke(bench, stranger, foreign.id).await, Revoked::IsLast);

    assert_eq!(revoke(bench, account, all[1]).await, Revoked::Done);
    assert_eq!(
        primary(bench, account).await.as_deref(),
        Some("k1"),
        "not its business"
    );
    assert_eq!(revoke(bench, account, all[0]).await, Revoked::Done);
    assert_eq!(primary(bench, account).await.as_deref(), Some("k4"), "the newest");
    let (third, other) = (all[2], foreign.id);
    assert!(
        bench
            .write(move |tx| keys::make_primary(tx, account, third))
            .await
    );
    assert!(
        !bench
            .write(move |tx| keys::make_primary(tx, account, other))
            .await
    );
    assert_eq!(primary(bench, account).await.as_deref(), Some("k3"));
    assert_eq!(revoke(bench, account, third).await, Revoked::Done);
    assert_eq!(primary(bench, account).await.as_deref(), Some("k4"));
    assert_eq!(revoke(bench, account, all[3]).await, Revoked::IsLast);
    assert_eq!(revoke(bench, account, all[0]).await, Revoked::NotFound);
    assert_eq!(primary(bench, stranger).await.as_deref(), Some("f1"));
}

pub async fn concurrent_revocations_leave_one_key(bench: &Bench) {
    let second = bench.second_engine();
    for round in 0..8 {
        let name: &'static str = ["a", "b", "c", "d", "e", "f", "g", "h"][round];
        let account = bench.account(name).await;
        let keys = [
            issue(bench, account, &format!("{name}1"), 1).await.id,
            issue(bench, account, &format!("{name}2"), 2).await.id,
        ];
        let [first, other] = keys;
        let ends = tokio::join!(
            bench
                .engine
                .write(Partition::numbered(1), move |tx| keys::revoke(tx, account, first)),
            second.write(Partition::numbered(2), move |tx| keys::revoke(tx, account, other)),
        );
        let mut ends = [ends.0.unwrap(), ends.1.unwrap()];
        ends.sort_by_key(|end| *end != Revoked::Done);
        assert_eq!(ends, [Revoked::Done, Revoked::IsLast]);
        let left = bench.read(move |tx| keys::list(tx, account)).await;
        assert_eq!(left.iter().map(|key| key.is_primary).collect::<Vec<_>>(), [true]);
    }
}

pub async fn concurrent_first_keys_make_one_primary(bench: &Bench) {
    let second = bench.second_engine();
    for round in 0..8 {
        let name: &'static str = ["a", "b", "c", "d", "e", "f", "g", "h"][round];
        let account = bench.account(name).await;
        tokio::join!(
            issue_on(bench, &bench.engine, 1, account, a_key(&format!("{name}1"), 1)),
            issue_on(bench, &second, 2, account, a_key(&format!("{name}2"), 2)),
        );
        let keys = bench.read(move |tx| keys::list(tx, account)).await;
        assert_eq!(keys.iter().filter(|key| key.is_primary).count(), 1, "{keys:?}");
    }
}

pub async fn limits_of_a_key_are_stored(bench: &Bench) {
    let account = bench.account("lokanta").await;
    issue(bench, account, "first", 1).await;
    let mut limited = a_key("limited", 2);
    limited.record.access = KeyAccess {
        scopes: Some([Scope::OrdersRead, Scope::Reports].into()),
        restaurants: RestaurantScope::Only([RestaurantId::at(at(1)), RestaurantId::at(at(2))].into()),
        networks: ["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()].into(),
    };
    limited.record.expires_at = Some(at(100));
    let expected = limited.record.clone();
    let issued = issue_on(bench, &bench.engine, 0, account, limited).await;
    assert_eq!(issued, expected);
    let id = issued.id;
    let found = bench.read(move |tx| keys::get(tx, account, id)).await;
    assert_eq!(found, Some(expected));
    assert!(bench.read(move |tx| keys::is_valid(tx, id, at(99))).await);
    assert!(!bench.read(move |tx| keys::is_valid(tx, id, at(100))).await);
    assert!(
        !bench
            .read(move |tx| keys::is_valid(tx, KeyId::at(at(7)), at(1)))
            .await
    );
}

pub async fn key_that_expires_does_not_become_primary(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let first = issue(bench, account, "first", 1).await.id;
    let mut ending = a_key("ending", 2);
    ending.record.expires_at = Some(at(100));
    issue_on(bench, &bench.engine, 0, account, ending).await;
    assert_eq!(revoke(bench, account, first).await, Revoked::IsLast);
    let lasting = issue(bench, account, "lasting", 3).await.id;
    assert_eq!(revoke(bench, account, first).await, Revoked::Done);
    assert_eq!(primary(bench, account).await.as_deref(), Some("lasting"));
    assert_eq!(revoke(bench, account, lasting).await, Revoked::IsLast);
}

pub async fn replaced_primary_key_ends_or_stays(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let old = issue(bench, account, "old", 1).await.id;
    let new = issue(bench, account, "new", 2).await.id;
    let replace = |by: KeyId| bench.write(move |tx| keys::replace(tx, account, old, by, at(50)));
    replace(new).await;
    let due = |now| bench.read(move |tx| keys::expired_primaries(tx, now, 10));
    assert_eq!(due(at(49)).await, []);
    assert_eq!(due(at(50)).await, [(account, old, new)]);
    // Without its replacement the primary key does not end.
    assert_eq!(revoke(bench, account, new).await, Revoked::Done);
    assert_eq!(due(at(50)).await, []);
    let kept = bench.read(move |tx| keys::get(tx, account, old)).await.unwrap();
    assert_eq!(
        (kept.expires_at, kept.replaced_by, kept.is_primary),
        (None, None, true)
    );

    let newer = issue(bench, account, "newer", 3).await.id;
    replace(newer).await;
    assert!(
        bench
            .write(move |tx| keys::make_primary(tx, account, newer))
            .await
    );
    assert_eq!(due(at(50)).await, []);
    let expired = |before| bench.read(move |tx| keys::expired_before(tx, before, 10));
    assert_eq!(expired(at(50)).await, []);
    assert_eq!(expired(at(51)).await, [(account, old)]);
}
