//! The print agent is present as a printer.

use super::setup::Kitchen;
use crate::support::Backend;
use serde_json::json;

on_both! {
    ; sqlite_only:
    running_agent_does_not_count_as_watching
}

async fn running_agent_does_not_count_as_watching(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let _agent = kitchen.agent(&[]).await;
    kitchen.order("NO-1").await;
    kitchen.wait_for_tickets("NO-1", 1).await;
    let path = format!("/restaurants/{}/presence", kitchen.shop.restaurant);
    let found = kitchen.service.a.get(&path).await.data();
    assert_eq!(found["isWatched"], json!(false), "{found}");
    assert_eq!(found["connections"][0]["kind"], json!("printer"), "{found}");
    assert_eq!(found["connections"].as_array().unwrap().len(), 1, "{found}");
}
