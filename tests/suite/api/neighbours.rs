//! Work that goes through all accounts: one that fails for an account is done for the others all the same.

use crate::support::{House, Kind, until};
use std::time::Duration;

cases! {
    old_events_are_removed_beside_an_account_that_fails
    orders_are_made_ready_for_search_beside_an_account_that_fails
}

/// From now on these rows of the first account are refused. It is the first one that such work comes to.
async fn refuse(house: &House, operation: &str, table: &str) {
    let (account, row) = (house.first_account().await.0.simple(), row_of(operation));
    house.meddle(&match house.kind {
        Kind::Sqlite => format!(
            "CREATE TRIGGER stuck BEFORE {operation} ON {table} WHEN {row}.account_id = X'{account}'
             BEGIN SELECT RAISE(ABORT, 'stuck'); END"
        ),
        Kind::Postgres => format!(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN RAISE EXCEPTION 'stuck'; END $$;
             CREATE TRIGGER stuck BEFORE {operation} ON {table} FOR EACH ROW
             WHEN ({row}.account_id = '\\x{account}'::bytea) EXECUTE FUNCTION refuse()"
        ),
    });
}

fn row_of(operation: &str) -> &'static str {
    match operation {
        "DELETE" => "OLD",
        _ => "NEW",
    }
}

/// An order of each account.
async fn an_order_each(house: &House) {
    for (caller, store) in [(&house.a, "first"), (&house.b, "second")] {
        house.shop(caller, store).await.order(store).await;
    }
}

async fn old_events_are_removed_beside_an_account_that_fails(house: House) {
    an_order_each(&house).await;
    let events = async |caller: &crate::support::Caller| {
        let page = caller.get("/events").await.data();
        page.as_array().unwrap().len()
    };
    let before = events(&house.a).await;
    assert!(before > 0);
    refuse(&house, "DELETE", "events").await;
    house.advance(Duration::from_secs(60 * 24 * 60 * 60));
    house.sweep().await;
    assert_eq!(events(&house.a).await, before);
    assert_eq!(events(&house.b).await, 0);
}

async fn orders_are_made_ready_for_search_beside_an_account_that_fails(mut house: House) {
    refuse(&house, "INSERT", "order_words").await;
    an_order_each(&house).await;
    // As if another node had taken the orders and ended: only the look at all accounts after a start finds them.
    until("the second account's order is ready", async || {
        house.count("order_words") == 1
    })
    .await;
    for table in ["order_words", "word_places", "search_progress"] {
        house.meddle(&format!("DELETE FROM {table}"));
    }
    house.restart().await;
    until("the second account's order is ready again", async || {
        house.count("order_words") == 1
    })
    .await;
}
