//! What is recorded, by whom, and how it is read.

use crate::support::{ApiClient, Backend, Receiver, TestService};
use serde_json::{Value, json};
use std::time::Duration;

on_both! {
    changes_are_recorded_with_actor_address_and_fields
    actions_on_orders_are_recorded_and_arrivals_are_not
    ; sqlite_only:
    secrets_are_fingerprints
    sign_ins_are_recorded_and_guessing_does_not_fill_the_log
    commands_are_recorded_as_the_operator
    log_is_filtered_paged_and_downloaded
    refused_change_leaves_no_entry
    accounts_see_their_own_log_only
    old_entries_are_removed
}

async fn entries(client: &ApiClient, query: &str) -> Vec<Value> {
    let page = client.get(&format!("/audit?limit=200{query}")).await.data();
    page.as_array().unwrap().clone()
}

/// The newest entry, which must have this action.
async fn newest(client: &ApiClient, action: &str) -> Value {
    let entry = entries(client, "").await.remove(0);
    assert_eq!(entry["action"], action, "{entry}");
    entry
}

async fn changes_are_recorded_with_actor_address_and_fields(backend: Backend) {
    let service = TestService::open(backend).await;
    let client = &service.a;
    let made = client
        .post("/restaurants", &json!({ "name": "Moda" }))
        .await
        .data();
    let id = made["id"].as_str().unwrap();
    let entry = newest(client, "restaurant.created").await;
    assert_eq!(entry["actor"]["kind"], "key");
    assert_eq!(entry["address"], "127.0.0.1");
    assert_eq!(
        (&entry["recordId"], &entry["restaurantId"]),
        (&json!(id), &json!(id))
    );
    assert_eq!(entry["after"]["name"], "Moda");
    let keys = client.get("/keys").await.data();
    assert_eq!(entry["actor"]["id"], keys[0]["id"]);
    // Only what has changed.
    let path = format!("/restaurants/{id}");
    client.put(&path, &json!({ "name": "Moda 2" })).await.data();
    let entry = newest(client, "restaurant.changed").await;
    assert_eq!(
        (&entry["before"], &entry["after"]),
        (&json!({ "name": "Moda" }), &json!({ "name": "Moda 2" }))
    );
    // What changes nothing is not recorded.
    let count = entries(client, "").await.len();
    client.put(&path, &json!({ "name": "Moda 2" })).await.data();
    assert_eq!(entries(client, "").await.len(), count);
    // In the panel, it is the account's user.
    let users = client.get("/users").await.data();
    let mut user = service.user().await;
    let page = user.open(&path).await;
    user.submit(&page.form(&path), &[("name", "Moda 3")]).await;
    let entry = newest(client, "restaurant.changed").await;
    assert_eq!(
        entry["actor"],
        json!({ "kind": "user", "id": users[0]["id"], "name": "first@example.com" })
    );
    assert_eq!(entry["after"], json!({ "name": "Moda 3" }));
    client.delete(&path).await.done();
    let entry = newest(client, "restaurant.deleted").await;
    assert_eq!(entry["before"]["name"], "Moda 3");
}

async fn actions_on_orders_are_recorded_and_arrivals_are_not(backend: Backend) {
    let service = TestService::open(backend).await;
    let (client, shop) = (&service.a, service.shop(&service.a, "s").await);
    let before = entries(client, "").await.len();
    let id = shop.order("1").await;
    shop.order("2").await;
    assert_eq!(entries(client, "").await.len(), before);
    client.act(&format!("/orders/verify/{id}")).await.data();
    let entry = newest(client, "order.verified").await;
    assert_eq!(entry["recordId"], json!(id));
    assert_eq!(
        (&entry["before"]["status"], &entry["after"]["status"]),
        (&json!(400), &json!(500))
    );
    // Verified again, it stays as it is.
    client.act(&format!("/orders/verify/{id}")).await.data();
    assert_eq!(entries(client, "&action=order").await.len(), 1);
    client
        .post(&format!("/orders/change-status/{id}"), &json!({}))
        .await
        .data();
    newest(client, "order.advanced").await;
    let cancel = json!({ "note": "Ayşe vazgeçti" });
    client.post("/orders/cancel/2", &cancel).await.data();
    let entry = newest(client, "order.cancelled").await;
    assert!(!entry.to_string().contains("Ayşe"), "{entry}");
    // A platform that cancels is in the order's timeline only.
    shop.order("3").await;
    let before = entries(client, "").await.len();
    shop.cancel("3", json!({})).await.success();
    assert_eq!(entries(client, "").await.len(), before);
}

async fn secrets_are_fingerprints(backend: Backend) {
    let receiver = Receiver::start().await;
    let service = TestService::open_private(backend).await;
    let client = &service.a;
    let restaurant = client
        .post(
            "/restaurants",
            &json!({ "name": "r", "paymentMatchingUrl": "http://127.0.0.1:1/pos?token=hush-query",
                     "paymentMatchingHeaders": { "x-key": "hush-header" } }),
        )
        .await
        .data();
    let path = format!(
        "/restaurants/{}/integrations/direct",
        restaurant["id"].as_str().unwrap()
    );
    for secret in ["hush-inbound-one", "hush-inbound-two"] {
        let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": secret } });
        client.put(&path, &body).await.data();
    }
    let changed = newest(client, "integration.changed").await;
    let name = "credentials.inboundKey";
    let (old, new) = (
        changed["before"][name].as_str().unwrap(),
        changed["after"][name].as_str().unwrap(),
    );
    assert!(
        old.starts_with('#') && new.starts_with('#') && old != new,
        "{changed}"
    );
    let url = format!("{}?secret=hush-webhook", receiver.url("/hook"));
    client.put("/webhook", &json!({ "url": url })).await.data();
    let channel = json!({ "name": "SMS", "kind": "http", "url": "http://127.0.0.1:1/bothush-path/send",
                          "headers": { "x-key": "hush-channel" }, "secrets": { "pin": "hush-pin" }, "body": "hush-body" });
    client.post("/channels", &channel).await.data();
    client.post("/keys", &json!({ "label": "kasa" })).await.data();
    let all = serde_json::to_string(&entries(client, "").await).unwrap();
    assert!(!all.contains("hush"), "{all}");
    assert!(!all.contains("gsn_"), "{all}");
}

async fn sign_ins_are_recorded_and_guessing_does_not_fill_the_log(backend: Backend) {
    let service = TestService::open(backend).await;
    let mut user = service.user().await;
    newest(&service.a, "session.signed_in").await;
    let page = user.open("/").await;
    user.submit(&page.form("/sign-out"), &[]).await;
    newest(&service.a, "session.signed_out").await;
    let mut stranger = service.anonymous_user();
    for _ in 0..25 {
        stranger.sign_in("first@example.com", "wrong password").await;
    }
    let refused = entries(&service.a, "&action=session.refused").await;
    assert_eq!(refused.len(), 10);
    let reason = |entry: &Value| entry["after"]["reason"].as_str().unwrap().to_owned();
    assert_eq!(reason(refused.last().unwrap()), "wrong_password");
    assert_eq!(reason(&refused[0]), "locked");
    // An address without an account has no log.
    let rows = service.count("audit_log");
    stranger.sign_in("nobody@example.com", "wrong password").await;
    assert_eq!(service.count("audit_log"), rows);
}

async fn commands_are_recorded_as_the_operator(backend: Backend) {
    let service = TestService::open(backend).await;
    let created = entries(&service.a, "&action=account.created").await;
    assert_eq!(
        created[0]["actor"],
        json!({ "kind": "operator", "id": null, "name": "account create" })
    );
    let issued = service.command(&["key", "issue", "--email", "first@example.com", "--label", "yedek"]);
    assert!(issued.success, "{}", issued.err);
    let entry = newest(&service.a, "api_key.created").await;
    assert_eq!(entry["actor"]["name"], "key issue");
    assert_eq!(entry["after"]["label"], "yedek");
    let listed = service.command(&["audit", "list", "--email", "first@example.com", "--json"]);
    let first: Value = serde_json::from_str(listed.out.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["number"], &first["action"]),
        (&entry["number"], &json!("api_key.created"))
    );
}

async fn log_is_filtered_paged_and_downloaded(backend: Backend) {
    let service = TestService::open(backend).await;
    let (client, shop) = (&service.a, service.shop(&service.a, "s").await);
    let mut user = service.user().await;
    for (query, action) in [
        ("&action=restaurant", "restaurant.created"),
        ("&action=integration.created", "integration.created"),
        ("&actor=user", "session.signed_in"),
    ] {
        let found = entries(client, query).await;
        assert_eq!(found[0]["action"], action, "{query}");
    }
    let of_restaurant = entries(client, &format!("&restaurantId={}", shop.restaurant)).await;
    assert_eq!(of_restaurant.len(), 2);
    assert_eq!(entries(client, "&recordId=direct").await.len(), 1);
    assert_eq!(entries(client, "&from=2027-01-01").await.len(), 0);
    assert!(!entries(client, "&from=2026-03-01&to=2026-03-01").await.is_empty());
    for wrong in ["actor=x", "action=x", "actorId=x", "from=x"] {
        let field = wrong.split('=').next().unwrap();
        client
            .get(&format!("/audit?{wrong}"))
            .await
            .wrong(422, "invalid_parameter", field);
    }
    // All pages together are the whole log, without gaps.
    let whole: Vec<Value> = entries(client, "")
        .await
        .iter()
        .map(|it| it["number"].clone())
        .collect();
    let (mut cursor, mut paged) = (String::new(), Vec::new());
    loop {
        let page = client.get(&format!("/audit?limit=2{cursor}")).await.success();
        paged.extend(
            page["data"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it["number"].clone()),
        );
        match page["paging"]["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(paged, whole);
    let page = user.open("/audit?record=integration").await;
    assert!(page.has("Platform bağlantısı: oluşturuldu"), "{}", page.text());
    assert!(!page.has("Restoran: oluşturuldu"), "{}", page.text());
    let file = user.send("GET", "/audit.csv?record=integration", &[], "").await;
    let text = file.text();
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    assert!(
        text.contains("integration.created") && !text.contains("restaurant.created"),
        "{text}"
    );
    // Who takes a file is recorded.
    newest(client, "export.exported").await;
}

async fn refused_change_leaves_no_entry(backend: Backend) {
    let service = TestService::open(backend).await;
    let second = service.a.post("/keys", &json!({})).await.data();
    let other = ApiClient {
        key: second["apiKey"].as_str().unwrap().to_owned(),
        ..service.a.clone()
    };
    let count = entries(&service.a, "").await.len();
    let url = json!({ "url": "https://kasa.invalid/" });
    other
        .put("/webhook", &url)
        .await
        .refused(403, "primary_key_required");
    service
        .a
        .delete("/restaurants/01980a3c-0000-7000-8000-000000000002")
        .await
        .refused(404, "restaurant_not_found");
    assert_eq!(entries(&service.a, "").await.len(), count);
}

async fn accounts_see_their_own_log_only(backend: Backend) {
    let service = TestService::open(backend).await;
    service
        .a
        .post("/restaurants", &json!({ "name": "Bizim" }))
        .await
        .data();
    let theirs = serde_json::to_string(&entries(&service.b, "").await).unwrap();
    assert!(!theirs.contains("Bizim"), "{theirs}");
    let numbers: Vec<Value> = entries(&service.b, "")
        .await
        .iter()
        .map(|it| it["number"].clone())
        .collect();
    assert_eq!(numbers, [json!(2), json!(1)]);
}

async fn old_entries_are_removed(backend: Backend) {
    let service = TestService::open_with(backend, |settings| settings.audit.keep_days = 10, None).await;
    service
        .a
        .post("/restaurants", &json!({ "name": "Eski" }))
        .await
        .data();
    service.advance(Duration::from_secs(11 * 24 * 3600));
    service
        .a
        .post("/restaurants", &json!({ "name": "Yeni" }))
        .await
        .data();
    service.sweep().await;
    let left = entries(&service.a, "").await;
    assert_eq!(left.len(), 1);
    assert_eq!(
        (&left[0]["number"], &left[0]["after"]["name"]),
        (&json!(4), &json!("Yeni"))
    );
    let verified = service.command(&["audit", "verify"]);
    assert!(verified.success, "{}{}", verified.out, verified.err);
}
