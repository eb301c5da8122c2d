//! Background work for all accounts continues if it fails for one.

use crate::support::{Backend, TestService, wait_until};
use std::time::Duration;

cases! {
    old_events_are_removed_despite_a_failing_account
    orders_are_indexed_despite_a_failing_account
}

/// From now on these rows of the first account are refused. It is the first one that such work comes to.
async fn refuse(service: &TestService, operation: &str, table: &str) {
    let (account, row) = (service.first_account().await.0.simple(), row_of(operation));
    service.execute_sql(&match service.backend {
        Backend::Sqlite => format!(
            "CREATE TRIGGER stuck BEFORE {operation} ON {table} WHEN {row}.account_id = X'{account}'
             BEGIN SELECT RAISE(ABORT, 'stuck'); END"
        ),
        Backend::Postgres => format!(
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
async fn an_order_each(service: &TestService) {
    for (client, store) in [(&service.a, "first"), (&service.b, "second")] {
        service.shop(client, store).await.order(store).await;
    }
}

async fn old_events_are_removed_despite_a_failing_account(service: TestService) {
    an_order_each(&service).await;
    let events = async |client: &crate::support::ApiClient| {
        let page = client.get("/events").await.data();
        page.as_array().unwrap().len()
    };
    let before = events(&service.a).await;
    assert!(before > 0);
    refuse(&service, "DELETE", "events").await;
    service.advance(Duration::from_secs(60 * 24 * 60 * 60));
    service.sweep().await;
    assert_eq!(events(&service.a).await, before);
    assert_eq!(events(&service.b).await, 0);
}

async fn orders_are_indexed_despite_a_failing_account(mut service: TestService) {
    refuse(&service, "INSERT", "order_words").await;
    an_order_each(&service).await;
    // As if another node had taken the orders and ended: only the look at all accounts after a start finds them.
    wait_until("the second account's order is ready", async || {
        service.count("order_words") == 1
    })
    .await;
    for table in ["order_words", "word_places", "search_progress"] {
        service.execute_sql(&format!("DELETE FROM {table}"));
    }
    service.restart().await;
    wait_until("the second account's order is ready again", async || {
        service.count("order_words") == 1
    })
    .await;
}
