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
