//! API keys: found by hash, recoverable, always one primary and never none at all.

use crate::database::Bench;
use crate::fixtures::at;
use garson_core::account::{ApiKey, IssuedKey};
use garson_core::id::{AccountId, KeyId};
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
            created_at: at(millis),
            last_used_at: None,
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
    assert_eq!(found, Some((account, key.id, true)));
    let unknown = bench.read(|tx| keys::find(tx, &lookup_hash(b"garson_2"))).await;
    assert_eq!(unknown, None);
    assert_eq!(primary(bench, account).await.as_deref(), Some("garson_ğ_1"));
    let id = key.id;
    bench.write(move |tx| keys::record_use(tx, id, at(9))).await;
    let listed = bench.read(move |tx| keys::list(tx, account)).await;
    assert_eq!(
        listed
            .iter()
            .map(|k| (k.id, k.label.as_deref(), k.last_used_at))
            .collect::<Vec<_>>(),
        [(id, Some("kasa"), Some(at(9)))]
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
