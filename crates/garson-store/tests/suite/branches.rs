//! Branches: named by anybody, owned by one.

use crate::database::Bench;
use crate::fixtures::{DIRECT, GETIR, an_integration, at};
use garson_core::id::IntegrationId;
use garson_core::integration::{BranchClaim, Credentials, Integration};
use garson_store::tables::branches::NamedBranch;
use garson_store::tables::{branches, integrations};
use garson_store::{Engine, Partition};

async fn save(bench: &Bench, integration: &Integration) {
    let (vault, integration) = (bench.vault.clone(), integration.clone());
    bench
        .write(move |tx| integrations::save(tx, &vault, &integration, &Credentials::new(), None))
        .await;
}

/// An integration of a new account that names a branch.
async fn naming(bench: &Bench, account: &'static str, branch: &str) -> Integration {
    let place = bench.branch(account).await;
    let mut integration = an_integration(place.account, place.restaurant, GETIR);
    integration.remote_id = Some(branch.to_owned());
    save(bench, &integration).await;
    integration
}

async fn prove(bench: &Bench, integration: &Integration, branch: &'static str) {
    let id = integration.id;
    bench
        .write(move |tx| branches::prove(tx, id, branch, at(5)))
        .await;
}

async fn claim(bench: &Bench, id: IntegrationId) -> BranchClaim {
    let vault = bench.vault.clone();
    let found = bench.read(move |tx| integrations::by_id(tx, &vault, id)).await;
    found.unwrap().integration.branch
}

async fn owner(bench: &Bench, branch: &'static str) -> Option<IntegrationId> {
    let vault = bench.vault.clone();
    let found = bench
        .read(move |tx| branches::owner(tx, &vault, GETIR, branch))
        .await;
    found.map(|it| it.connected.integration.id)
}

async fn version(bench: &Bench, branch: &'static str, id: IntegrationId) -> Option<i64> {
    let vault = bench.vault.clone();
    let found = bench
        .read(move |tx| branches::claims(tx, &vault, GETIR, branch))
        .await;
    found
        .into_iter()
        .find(|it| it.connected.integration.id == id)
        .unwrap()
        .version
}

pub async fn first_integration_with_proof_owns_the_branch(bench: &Bench) {
    let (early, late) = (naming(bench, "a", "ŞB").await, naming(bench, "b", "ŞB").await);
    assert_eq!(owner(bench, "ŞB").await, None);
    assert_eq!(claim(bench, early.id).await, BranchClaim::Unproven);
    let before = version(bench, "ŞB", late.id).await;
    prove(bench, &late, "ŞB").await;
    assert!(
        version(bench, "ŞB", late.id).await > before,
        "whoever remembers it must look again"
    );
    prove(bench, &early, "ŞB").await;
    prove(bench, &late, "ŞB").await;
    assert_eq!(owner(bench, "ŞB").await, Some(late.id));
    assert_eq!(claim(bench, late.id).await, BranchClaim::Proven);
    assert_eq!(claim(bench, early.id).await, BranchClaim::Taken);
    // The owner is found first among all that name the branch.
    let vault = bench.vault.clone();
    let all = bench
        .read(move |tx| branches::claims(tx, &vault, GETIR, "ŞB"))
        .await;
    let all: Vec<_> = all.iter().map(|it| it.connected.integration.id).collect();
    assert_eq!(all, [late.id, early.id]);
    // A proof for a branch that it does not name any more is none, and the same name elsewhere is another branch.
    let third = naming(bench, "c", "other").await;
    prove(bench, &third, "ŞB-2").await;
    assert_eq!(claim(bench, third.id).await, BranchClaim::Unproven);
    let vault = bench.vault.clone();
    assert!(
        bench
            .read(move |tx| branches::owner(tx, &vault, DIRECT, "ŞB"))
            .await
            .is_none()
    );
}

pub async fn operator_assigns_and_releases_a_branch(bench: &Bench) {
    let (mine, theirs) = (naming(bench, "a", "ŞB").await, naming(bench, "b", "ŞB").await);
    prove(bench, &mine, "ŞB").await;
    let (before, account) = (version(bench, "ŞB", mine.id).await, theirs.account_id);
    assert!(
        bench
            .write(move |tx| branches::assign(tx, account, GETIR, "ŞB", at(7)))
            .await
    );
    assert_eq!(owner(bench, "ŞB").await, Some(theirs.id));
    assert_eq!(claim(bench, mine.id).await, BranchClaim::Unproven);
    assert!(version(bench, "ŞB", mine.id).await > before);
    assert!(
        bench
            .write(move |tx| branches::assign(tx, account, GETIR, "ŞB", at(8)))
            .await
    );
    assert_eq!(owner(bench, "ŞB").await, Some(theirs.id));
    assert!(
        !bench
            .write(move |tx| branches::assign(tx, account, GETIR, "x", at(8)))
            .await
    );
    let before = version(bench, "ŞB", theirs.id).await;
    assert!(bench.write(|tx| branches::release(tx, GETIR, "ŞB")).await);
    assert!(!bench.write(|tx| branches::release(tx, GETIR, "ŞB")).await);
    assert_eq!(owner(bench, "ŞB").await, None);
    assert!(version(bench, "ŞB", theirs.id).await > before);
    let (id, other) = (mine.id, theirs.id);
    assert!(
        bench
            .write(move |tx| branches::claim_if_free(tx, id, "ŞB", at(9)))
            .await
    );
    assert!(
        !bench
            .write(move |tx| branches::claim_if_free(tx, other, "ŞB", at(9)))
            .await
    );
    assert_eq!(claim(bench, other).await, BranchClaim::Unproven, "it is not told");
}

pub async fn changed_branch_loses_its_proof(bench: &Bench) {
    let mut mine = naming(bench, "a", "ŞB").await;
    prove(bench, &mine, "ŞB").await;
    mine.default_cancel_reason = Some("closed".to_owned());
    save(bench, &mine).await;
    assert_eq!(
        owner(bench, "ŞB").await,
        Some(mine.id),
        "other changes do not matter"
    );
    mine.remote_id = Some("ŞB-2".to_owned());
    save(bench, &mine).await;
    assert_eq!(
        (owner(bench, "ŞB").await, owner(bench, "ŞB-2").await),
        (None, None)
    );
    prove(bench, &mine, "ŞB-2").await;
    assert_eq!(owner(bench, "ŞB-2").await, Some(mine.id));
    mine.remote_id = None;
    save(bench, &mine).await;
    assert_eq!(claim(bench, mine.id).await, BranchClaim::Unproven);
}

pub async fn deleted_integration_owns_no_branch(bench: &Bench) {
    let (mine, theirs) = (naming(bench, "a", "ŞB").await, naming(bench, "b", "ŞB").await);
    prove(bench, &mine, "ŞB").await;
    let id = mine.id;
    bench.write(move |tx| integrations::delete(tx, id)).await;
    assert_eq!(owner(bench, "ŞB").await, None);
    prove(bench, &theirs, "ŞB").await;
    assert_eq!(owner(bench, "ŞB").await, Some(theirs.id));
}

pub async fn concurrent_proofs_make_one_owner(bench: &Bench) {
    let mut all = Vec::new();
    for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        all.push(naming(bench, name, "ŞB").await);
    }
    let second = bench.second_engine();
    let try_prove = async |engine: &Engine, integration: &Integration| {
        let id = integration.id;
        let lane = Partition::from(integration.account_id);
        // One that another node overtakes may fail; then it has changed nothing.
        let _overtaken = engine
            .write(lane, move |tx| branches::prove(tx, id, "ŞB", at(5)))
            .await;
    };
    tokio::join!(
        try_prove(&bench.engine, &all[0]),
        try_prove(&second, &all[1]),
        try_prove(&bench.engine, &all[2]),
        try_prove(&second, &all[3]),
        try_prove(&bench.engine, &all[4]),
        try_prove(&second, &all[5]),
        try_prove(&bench.engine, &all[6]),
        try_prove(&second, &all[7]),
    );
    let mut owners = Vec::new();
    for it in &all {
        if claim(bench, it.id).await == BranchClaim::Proven {
            owners.push(it.id);
        }
    }
    assert_eq!(owners.len(), 1);
    assert_eq!(owner(bench, "ŞB").await, owners.first().copied());
}

pub async fn branches_are_listed_in_chunks(bench: &Bench) {
    for name in ["a", "b", "c"] {
        naming(bench, name, "ŞB").await;
        naming(
            bench,
            ["x", "y", "z"][usize::from(name.as_bytes()[0] - b'a')],
            name,
        )
        .await;
    }
    let whole = bench.read(|tx| branches::list(tx, None, 100)).await;
    assert_eq!(whole.len(), 6);
    let (mut parts, mut last): (Vec<NamedBranch>, Option<NamedBranch>) = (Vec::new(), None);
    loop {
        let after = last.clone();
        let part = bench.read(move |tx| branches::list(tx, after.as_ref(), 2)).await;
        let Some(end) = part.last() else { break };
        last = Some(end.clone());
        parts.extend(part);
    }
    assert_eq!(parts, whole);
}
