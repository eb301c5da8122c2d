//! `/users`: the people who sign in to the panel.

use crate::support::{ApiClient, TestService};
use serde_json::{Value, json};

cases! {
    users_are_invited_changed_and_removed
    ; sqlite_only:
    invalid_users_are_refused
    only_the_primary_key_changes_users
}

async fn users_are_invited_changed_and_removed(service: TestService) {
    let shop = service.shop(&service.a, "moda").await;
    let a = &service.a;
    let first = a.get("/users").await.data();
    assert_eq!(
        (&first[0]["email"], &first[0]["role"]),
        (&json!("first@example.com"), &json!("owner"))
    );
    assert_eq!(
        (&first[0]["restaurantIds"], first.as_array().unwrap().len()),
        (&Value::Null, 1)
    );
    let new = json!({ "email": "Ayse@example.com", "name": "Ayşe", "role": "shift", "language": "en",
                      "restaurantIds": [shop.restaurant] });
    let invited = a.post("/users", &new).await.data();
    assert!(
        invited["invitationLink"]
            .as_str()
            .unwrap()
            .contains("/invitation/")
    );
    assert_eq!(invited["email"], json!("ayse@example.com"));
    assert_eq!(invited["restaurantIds"], json!([shop.restaurant]));
    assert_eq!(invited["hasAccepted"], json!(false));
    let path = format!("/users/{}", invited["id"].as_str().unwrap());
    let changed = a
        .json("PATCH", &path, r#"{"role": "manager", "restaurantIds": null}"#)
        .await
        .data();
    assert_eq!(
        (&changed["role"], &changed["restaurantIds"]),
        (&json!("manager"), &Value::Null)
    );
    assert_eq!(
        (&changed["name"], &changed["language"]),
        (&json!("Ayşe"), &json!("en"))
    );
    let users = a.get("/users").await.data();
    assert!(users.as_array().unwrap().contains(&changed), "{users}");
    // The link is in no later answer.
    assert!(changed.get("invitationLink").is_none());
    assert_eq!(service.b.get("/users").await.data().as_array().unwrap().len(), 1);
    a.delete(&path).await.success();
    a.delete(&path).await.refused(404, "user_not_found");
}

async fn invalid_users_are_refused(service: TestService) {
    let theirs = service.shop(&service.b, "theirs").await;
    let a = &service.a;
    for (body, status, code) in [
        (json!({ "role": "shift" }), 422, "invalid_field"),
        (
            json!({ "email": "nobody", "role": "shift" }),
            422,
            "invalid_field",
        ),
        (
            json!({ "email": "<a@example.com>", "role": "shift" }),
            422,
            "invalid_field",
        ),
        // Misspelled, so it would be an invitation for all restaurants.
        (
            json!({ "email": "a@example.com", "role": "shift", "restaurants": [theirs.restaurant] }),
            422,
            "invalid_field",
        ),
        (
            json!({ "email": "a@example.com", "role": "boss" }),
            422,
            "invalid_field",
        ),
        (
            json!({ "email": "a@example.com", "role": "shift", "language": "de" }),
            422,
            "invalid_field",
        ),
        (
            json!({ "email": "a@example.com", "role": "shift", "restaurantIds": [] }),
            422,
            "invalid_field",
        ),
        (
            json!({ "email": "a@example.com", "role": "shift", "restaurantIds": ["x"] }),
            404,
            "restaurant_not_found",
        ),
        (
            json!({ "email": "a@example.com", "role": "shift", "restaurantIds": [theirs.restaurant] }),
            404,
            "restaurant_not_found",
        ),
        (
            json!({ "email": "second@example.com", "role": "shift" }),
            409,
            "email_taken",
        ),
        (
            json!({ "email": "FIRST@example.com", "role": "shift" }),
            409,
            "email_taken",
        ),
    ] {
        a.post("/users", &body).await.refused(status, code);
    }
    let own = service.shop(a, "own").await;
    let owner = json!({ "email": "a@example.com", "role": "owner", "restaurantIds": [own.restaurant] });
    a.post("/users", &owner).await.refused(422, "invalid_field");
    assert_eq!(service.count("users"), 2);
}

async fn only_the_primary_key_changes_users(service: TestService) {
    let a = &service.a;
    let second = a.post("/keys", &json!({ "label": "Kasa" })).await.data();
    let second = ApiClient {
        addr: service.addr,
        key: second["apiKey"].as_str().unwrap().to_owned(),
    };
    let users = second.get("/users").await.data();
    let path = format!("/users/{}", users[0]["id"].as_str().unwrap());
    let new = json!({ "email": "thief@example.com", "role": "owner" });
    second
        .post("/users", &new)
        .await
        .refused(403, "primary_key_required");
    second
        .json("PATCH", &path, r#"{"name": "x"}"#)
        .await
        .refused(403, "primary_key_required");
    second.delete(&path).await.refused(403, "primary_key_required");
    assert_eq!(a.get("/users").await.data(), users);
}
