//! What a job leaves to be derived at the end of its transaction (payment totals above all): if that cannot be read or
//! written, the job fails with a clear error, and only that job.

use crate::batches::{BoxedJob, together};
use crate::database::{Bench, Kind};
use crate::fixtures::{Branch, at, take_order};
use garson_core::id::AccountId;
use garson_core::testing::a_new_order;
use garson_store::{StoreErrorKind, params, totals};

fn taking(branch: Branch, name: &'static str) -> BoxedJob {
    Box::new(move |tx| take_order(tx, branch, &a_new_order(name), at(0)).map(drop))
}

/// How many orders an account has, by its rows and by its totals.
async fn counts(bench: &Bench, account: AccountId) -> (i64, i64) {
    bench
        .read(move |tx| {
            let rows = tx.query_one(
                "SELECT COUNT(*) FROM orders WHERE account_id = ?1",
                params![&account],
                |row| row.get::<i64>(0),
            )?;
            let sums = totals::sums(tx, account, None, None, None)?;
            Ok((rows, sums.values().map(|(count, _)| count).sum()))
        })
        .await
}

fn set_sums(bench: &Bench, account: AccountId, sums: &str) {
    let scope = account.0.simple();
    let scope = match bench.kind {
        Kind::Sqlite => format!("x'{scope}'"),
        Kind::Postgres => format!("'\\x{scope}'"),
    };
    bench.execute_directly(&format!(
        "UPDATE payment_totals SET sums = '{sums}' WHERE scope = {scope}"
    ));
}

/// Two accounts with an order each.
async fn two_accounts(bench: &Bench) -> [Branch; 2] {
    let branches = [bench.branch("damaged").await, bench.branch("sound").await];
    for branch in branches {
        bench.order(branch, "first", at(0)).await;
    }
    branches
}

/// Takes orders of both accounts in one batch, and alone: those of the first fail, those of the second count.
async fn first_fails_second_counts(bench: &Bench, [damaged, sound]: [Branch; 2], kinds: &[StoreErrorKind]) {
    let jobs = vec![
        taking(sound, "a"),
        taking(damaged, "b"),
        taking(sound, "c"),
        taking(damaged, "d"),
    ];
    let ends = together(bench, jobs).await;
    let alone = bench
        .try_write(move |tx| take_order(tx, damaged, &a_new_order("e"), at(0)).map(drop))
        .await;
    for end in [&ends[1], &ends[3], &alone] {
        let kind = end.as_ref().map_err(|error| error.kind).unwrap_err();
        assert!(kinds.contains(&kind), "{end:?}");
    }
    assert!(ends[0].is_ok() && ends[2].is_ok(), "{ends:?}");
    assert_eq!(counts(bench, sound.account).await, (3, 3));
    let rows = bench
        .read(|tx| {
            tx.query("SELECT provider_order_id FROM orders", &[], |row| {
                row.get::<String>(0)
            })
        })
        .await;
    assert!(
        !rows.iter().any(|id| ["b", "d", "e"].contains(&id.as_str())),
        "{rows:?}"
    );
}

/// What the first account could not take it takes when the damage is repaired.
async fn takes_again(bench: &Bench, branch: Branch) {
    for name in ["b", "d", "e"] {
        bench.order(branch, name, at(0)).await;
    }
    assert_eq!(counts(bench, branch.account).await, (4, 4));
}

async fn sums_of(bench: &Bench, account: AccountId) -> String {
    bench
        .read(move |tx| {
            tx.query_one(
                "SELECT sums FROM payment_totals WHERE scope = ?1 AND level = 2",
                params![&account],
                |row| row.get::<String>(0),
            )
        })
        .await
}

pub async fn failed_deferred_value_fails_its_own_job(bench: &Bench) {
    let branches = two_accounts(bench).await;
    let account = branches[0].account;
    let sums = sums_of(bench, account).await;
    set_sums(bench, account, "damaged");
    first_fails_second_counts(bench, branches, &[StoreErrorKind::Corrupt]).await;
    set_sums(bench, account, &sums);
    takes_again(bench, branches[0]).await;
}

pub async fn overflowing_sum_fails_its_own_job(bench: &Bench) {
    let branches = two_accounts(bench).await;
    let account = branches[0].account;
    let sums = sums_of(bench, account).await;
    let (rest, _) = sums.rsplit_once(' ').unwrap();
    set_sums(bench, account, &format!("{rest} {}", i64::MAX));
    first_fails_second_counts(bench, branches, &[StoreErrorKind::Internal]).await;
    set_sums(bench, account, &sums);
    takes_again(bench, branches[0]).await;
}

pub async fn failed_deferred_write_fails_its_own_job(bench: &Bench) {
    let branches = two_accounts(bench).await;
    let scope = branches[0].account.0.simple();
    let (refuse, allow) = match bench.kind {
        Kind::Sqlite => (
            format!(
                "CREATE TRIGGER refuse BEFORE INSERT ON payment_totals WHEN NEW.scope = x'{scope}'
                 BEGIN SELECT RAISE(ABORT, 'refused'); END"
            ),
            "DROP TRIGGER refuse",
        ),
        Kind::Postgres => (
            format!(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
                     AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
                 CREATE TRIGGER refuse BEFORE INSERT ON payment_totals FOR EACH ROW
                     WHEN (NEW.scope = '\\x{scope}'::bytea) EXECUTE FUNCTION refuse()"
            ),
            "DROP TRIGGER refuse ON payment_totals",
        ),
    };
    bench.execute_directly(&refuse);
    let kinds = [StoreErrorKind::Constraint, StoreErrorKind::Internal];
    first_fails_second_counts(bench, branches, &kinds).await;
    bench.execute_directly(allow);
    takes_again(bench, branches[0]).await;
}

/// A statement that asks for totals has them written first; that this failed cannot be ignored.
pub async fn ignored_error_fails_its_job(bench: &Bench) {
    let [damaged, sound] = two_accounts(bench).await;
    set_sums(bench, damaged.account, "damaged");
    let ignoring: fn(Branch) -> BoxedJob = |branch| {
        Box::new(move |tx| {
            take_order(tx, branch, &a_new_order("ignored"), at(0))?;
            let _ignored = totals::sums(tx, branch.account, None, None, None);
            Ok(())
        })
    };
    let jobs = vec![taking(sound, "a"), ignoring(damaged), taking(sound, "c")];
    let ends = together(bench, jobs).await;
    let kind = ends[1].as_ref().map_err(|error| error.kind);
    assert_eq!(kind, Err(StoreErrorKind::Corrupt));
    assert!(ends[0].is_ok() && ends[2].is_ok(), "{ends:?}");
    let alone = bench.try_write(move |tx| ignoring(damaged)(tx)).await;
    assert_eq!(alone.map_err(|error| error.kind), Err(StoreErrorKind::Corrupt));
    assert_eq!(counts(bench, sound.account).await, (3, 3));
}
