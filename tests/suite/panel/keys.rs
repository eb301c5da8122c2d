//! Keys: issued and shown once, made primary, revoked.

use crate::support::{ApiClient, Page, PanelUser, TestService, wait_until};
use std::time::Duration;

cases! {
    key_is_issued_shown_once_and_works
    resubmitted_form_creates_no_second_key
    ; sqlite_only:
    a_label_that_is_too_long_is_refused
    revoking_the_primary_key_shows_a_warning
    a_key_is_made_primary_and_revoked
    keys_of_other_accounts_are_invisible
    limits_are_chosen_and_shown
    key_is_replaced_once
    developer_gives_no_more_than_programs_need
}

async fn issue(user: &mut PanelUser, label: &str) -> String {
    let page = user.open("/keys").await;
    let page = user.submit(&page.form("/keys"), &[("label", label)]).await;
    assert_eq!(page.status, 200);
    let text = page.within("issued-key", "code").text();
    assert!(text.starts_with("gsn_"), "{text}");
    text
}

async fn key_is_issued_shown_once_and_works(service: TestService) {
    let mut user = service.user().await;
    let key = issue(&mut user, "Kasa <1>").await;
    service.advance(Duration::from_secs(5 * 60));
    ApiClient::new(service.addr, &key).get("/orders").await.data();
    wait_until("its use is noted", async || {
        user.clone().open("/keys").await.has("01.03.2026 12:05")
    })
    .await;
    let page = user.open("/keys").await;
    assert!(!page.html.contains(&key) && page.has("Kasa <1>"), "{}", page.html);
    assert!(page.has(&format!("…{}", &key[key.len() - 4..])));
    assert!(page.has("01.03.2026 12:00"), "{}", page.text());
}

async fn a_label_that_is_too_long_is_refused(service: TestService) {
    let mut user = service.user().await;
    let form = user.open("/keys").await.form("/keys");
    let long = "k".repeat(201);
    let page = user.submit(&form, &[("label", &long)]).await;
    assert_eq!(page.status, 422);
    assert!(page.has("En çok 200 karakter olabilir"), "{}", page.text());
    assert_eq!(page.form("/keys").value("label"), long);
    assert_eq!(service.count("api_keys"), 2, "those of the accounts");
}

async fn resubmitted_form_creates_no_second_key(service: TestService) {
    let mut user = service.user().await;
    let form = user.open("/keys").await.form("/keys");
    let shown = |page: &Page| page.within("issued-key", "code").text();
    // Two presses in a row: the browser shows the second answer.
    let first = shown(&user.submit(&form, &[("label", "Kasa")]).await);
    assert_eq!(shown(&user.submit(&form, &[("label", "Kasa")]).await), first);
    assert_eq!(
        service.count("api_keys"),
        3,
        "one more than the two of the accounts"
    );
    // Loading the answer again later does not show it again.
    service.advance(Duration::from_secs(11));
    let page = user.submit(&form, &[("label", "Kasa")]).await;
    assert!(
        page.has("Bu formla anahtar zaten oluşturulmuştu"),
        "{}",
        page.text()
    );
    assert!(!page.html.contains(&first) && !page.html.contains("issued-key"));
    assert_eq!(service.count("api_keys"), 3);
    // The page's form issues the next one.
    let next = shown(&user.submit(&page.form("/keys"), &[]).await);
    assert_ne!(next, first);
    assert_eq!(service.count("api_keys"), 4);
    let nonsense = page.form("/keys").forged("id", Some("x"));
    assert_eq!(user.send("POST", "/keys", &[], &nonsense).await.status, 404);
    assert_eq!(service.count("api_keys"), 4);
}

async fn revoking_the_primary_key_shows_a_warning(service: TestService) {
    let mut user = service.user().await;
    issue(&mut user, "Kasa").await;
    let page = user.open("/keys").await;
    assert_eq!(page.html.matches("Bu birincil anahtardır").count(), 1);
    let row = page
        .html
        .split("<tr>")
        .find(|row| row.contains("Bu birincil anahtardır"));
    assert!(
        row.is_some_and(|row| !row.contains("/primary\"")),
        "{}",
        page.html
    );
}

async fn a_key_is_made_primary_and_revoked(service: TestService) {
    let mut user = service.user().await;
    let key = issue(&mut user, "Kasa").await;
    let client = ApiClient::new(service.addr, &key);
    let id = client
        .get("/keys")
        .await
        .data()
        .as_array()
        .unwrap()
        .iter()
        .find_map(|it| (it["label"] == "Kasa").then(|| it["id"].as_str().unwrap().to_owned()));
    let id = id.unwrap();
    let page = user.open("/keys").await;
    let page = user.submit(&page.form(&format!("/keys/{id}/primary")), &[]).await;
    assert!(page.has("Birincil anahtar değişti."), "{}", page.text());
    let page = user.submit(&page.form(&format!("/keys/{id}/revoke")), &[]).await;
    assert!(page.has("Anahtar iptal edildi."), "{}", page.text());
    client.get("/orders").await.refused(401, "unauthorized");
    // The last one stays.
    let last = page
        .forms()
        .into_iter()
        .find(|form| form.action.ends_with("/revoke"))
        .unwrap();
    let page = user.submit(&last, &[]).await;
    assert!(page.has("Son anahtar burada iptal edilemez"), "{}", page.text());
    service.a.get("/orders").await.data();
}

async fn keys_of_other_accounts_are_invisible(service: TestService) {
    let mut theirs = service.user_of("second@example.com").await;
    issue(&mut theirs, "Onların").await;
    let mut mine = service.user().await;
    issue(&mut mine, "Benim").await;
    let page = mine.open("/keys").await;
    assert!(page.has("Benim") && !page.has("Onların"));
    let form = page
        .forms()
        .into_iter()
        .find(|form| form.action.ends_with("/revoke"))
        .unwrap();
    for action in theirs
        .open("/keys")
        .await
        .forms()
        .into_iter()
        .map(|form| form.action)
    {
        if action.starts_with("/keys/") {
            let reply = mine.send("POST", &action, &[], &form.body(&[])).await;
            assert_eq!(reply.status, 404, "{action}");
        }
    }
    service.b.get("/keys").await.data();
}

async fn limits_are_chosen_and_shown(service: TestService) {
    let shop = service.shop(&service.a, "moda").await;
    let mut user = service.user().await;
    let form = user.open("/keys").await.form("/keys");
    let restaurant = format!("restaurant.{}", shop.restaurant);
    let chosen = [
        ("label", "Kasa"),
        ("access", "some"),
        ("scope.orders:read", "on"),
        (restaurant.as_str(), "on"),
        ("days", "30"),
        ("networks", "127.0.0.0/8, 2001:db8::/32"),
    ];
    let page = user.submit(&form, &chosen).await;
    let key = page.within("issued-key", "code").text();
    let text = page.text();
    for shown in [
        "Siparişleri görme",
        "moda",
        "127.0.0.0/8, 2001:db8::/32",
        "son gün: 31.03.2026",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    let client = ApiClient::new(service.addr, &key);
    client.get("/orders").await.data();
    client
        .get("/restaurants")
        .await
        .refused(403, "insufficient_scope");
    // What cannot be is said at its field, and the rest of the form is kept.
    let form = user.open("/keys").await.form("/keys");
    let page = user
        .submit(&form, &[("label", "Kasa 2"), ("networks", "here")])
        .await;
    assert_eq!(page.status, 422);
    assert_eq!(page.form("/keys").value("label"), "Kasa 2");
    let none = user.submit(&form, &[("access", "some")]).await;
    assert_eq!(none.status, 422);
    assert_eq!(service.count("api_keys"), 3);
}

async fn key_is_replaced_once(service: TestService) {
    let mut user = service.user().await;
    let keys = service.a.get("/keys").await.data();
    let path = format!("/keys/{}/rotate", keys[0]["id"].as_str().unwrap());
    let form = user.open("/keys").await.form(&path);
    let page = user.submit(&form, &[]).await;
    let key = page.within("issued-key", "code").text();
    assert!(page.has("Yenileniyor"), "{}", page.text());
    ApiClient::new(service.addr, &key).get("/orders").await.data();
    service.a.get("/orders").await.data();
    service.advance(Duration::from_secs(11));
    let again = user.submit(&form, &[]).await;
    assert!(
        again.has("Bu formla anahtar zaten oluşturulmuştu"),
        "{}",
        again.text()
    );
    assert_eq!(service.count("api_keys"), 3);
}

async fn developer_gives_no_more_than_programs_need(service: TestService) {
    let (_, mut user) = service.colleague("dev@example.com", "developer", None).await;
    let page = user.open("/keys").await;
    assert!(
        !page.has("Müşterilerin kişisel verileri") && !page.has("Her şey"),
        "{}",
        page.text()
    );
    let form = page.form("/keys");
    let page = user.submit(&form, &[("scope.orders:act", "on")]).await;
    let key = page.within("issued-key", "code").text();
    ApiClient::new(service.addr, &key).get("/orders").await.data();
    for forged in [("access", "all"), ("scope.privacy", "on")] {
        let form = user.open("/keys").await.form("/keys");
        let body = form.forged(forged.0, Some(forged.1));
        let reply = user.send("POST", "/keys", &[], &body).await;
        assert_eq!(reply.status, 403, "{forged:?}");
    }
    assert_eq!(service.count("api_keys"), 3);
}
