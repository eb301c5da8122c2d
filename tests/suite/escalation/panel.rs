//! The panel's pages for escalation and notifications.

use super::setup::{private, set_steps, step};
use crate::support::{Backend, Receiver};

on_both! {
    ; sqlite_only:
    channels_notices_and_steps_are_set_in_the_panel
    form_that_the_page_does_not_have_changes_no_steps
}

async fn channels_notices_and_steps_are_set_in_the_panel(backend: Backend) {
    let service = private(backend).await;
    let receiver = Receiver::start().await;
    let shop = service.shop(&service.a, "Moda").await;
    let mut user = service.user().await;
    let page = user.open("/notices/channels/new?kind=http").await;
    let form = page.form("/notices/channels/new");
    let page = user.submit(&form, &[("name", "SMS"), ("url", "nowhere")]).await;
    assert_eq!(page.status, 422);
    let url = receiver.url("/sms");
    let filled = [
        ("name", "SMS"),
        ("url", url.as_str()),
        ("headers", "Authorization: Bearer abc-secret"),
        ("body", "m={text}"),
    ];
    let page = user.submit(&page.form("/notices/channels/new"), &filled).await;
    assert_eq!(page.path, "/notices", "{}", page.html);
    assert!(page.has("Kanal kaydedildi."));
    let channel = service.a.get("/channels").await.data()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/notices/channels/{channel}");
    let edit = user.open(&path).await;
    assert!(!edit.html.contains("abc-secret"));
    // An empty field keeps the secret.
    let page = user.submit(&edit.form(&path), &[("name", "Müdür")]).await;
    assert_eq!(page.path, "/notices", "{}", page.html);
    let page = user.submit(&page.form(&format!("{path}/test")), &[]).await;
    assert!(page.has("Test mesajı gönderildi."), "{}", page.html);
    assert_eq!(
        receiver.seen()[0].header("authorization"),
        Some("Bearer abc-secret")
    );
    let ticked = format!("channel.{channel}");
    let page = user
        .submit(
            &page.form("/notices"),
            &[("kind.platformDown", "on"), (ticked.as_str(), "on")],
        )
        .await;
    assert!(page.has("Bildirim ayarları kaydedildi."), "{}", page.html);
    let path = format!("/restaurants/{}/escalation", shop.restaurant);
    let page = user.open(&path).await;
    let form = page.form(&path);
    let page = user
        .submit(
            &form,
            &[("steps[0].action", "message"), ("steps[0].seconds", "60")],
        )
        .await;
    assert_eq!(page.status, 422, "{}", page.html);
    let filled = [
        ("steps[0].action", "message"),
        ("steps[0].seconds", "60"),
        ("steps[0].channelId", channel.as_str()),
        ("steps[1].action", "ring"),
        ("steps[1].seconds", "90"),
        ("steps[1].onlyIfUnwatched", "on"),
    ];
    let page = user.submit(&page.form(&path), &filled).await;
    assert!(page.has("Adımlar kaydedildi."), "{}", page.html);
    let steps = service.a.get(&path).await.data();
    assert_eq!(steps["steps"].as_array().unwrap().len(), 2);
    assert_eq!(steps["steps"][1]["onlyIfUnwatched"], serde_json::json!(true));
}

async fn form_that_the_page_does_not_have_changes_no_steps(backend: Backend) {
    let service = private(backend).await;
    let shop = service.shop(&service.a, "Moda").await;
    set_steps(&service.a, &shop, serde_json::json!([step("ring", 60)])).await;
    let path = format!("/restaurants/{}/escalation", shop.restaurant);
    let stored = service.a.get(&path).await.data();
    let mut user = service.user().await;
    let form = user.open(&path).await.form(&path);
    let mut bare = form.clone();
    bare.fields.retain(|(name, _)| !name.starts_with("steps["));
    for odd in [
        &[][..],
        &[("steps[999999999999].action", "ring")],
        &[("steps[10].action", "ring"), ("steps[10].seconds", "5")],
        &[("steps[-1].action", "ring")],
        &[("steps[x].action", "ring")],
        &[("steps[01].action", "ring")],
    ] {
        let mut sent = bare.clone();
        let odd_fields = odd.iter();
        sent.fields
            .extend(odd_fields.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let page = user.submit(&sent, &[]).await;
        assert_eq!(page.status, 422, "{odd:?}: {}", page.text());
    }
    for odd in [
        ("steps[0].action", "sing"),
        ("steps[0].when", "soon"),
        ("steps[0].seconds", "1e3"),
    ] {
        let page = user.submit(&form, &[odd]).await;
        assert_eq!(page.status, 422, "{odd:?}: {}", page.text());
    }
    assert_eq!(service.a.get(&path).await.data(), stored);
}
