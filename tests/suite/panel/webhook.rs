//! The webhook page: URL, test, delivery log with filters and pages, and resending.

use crate::support::{
    Backend, CannedResponse, Page, PanelUser, Receiver, TestService, order_body, wait_until,
    write_failed_events,
};
use garson::flow::admin::accounts;
use garson_core::id::RestaurantId;
use serde_json::json;

on_both! {
    webhook_url_is_registered_tested_and_removed
    log_is_paged_and_all_failures_are_resent
    log_is_filtered_by_event_and_day
    answer_to_a_failed_attempt_is_shown_without_secrets
    ; sqlite_only:
    revision_events_can_be_selected
    optional_events_can_be_selected
    attempts_are_explained_and_can_be_resent
    log_can_be_searched_by_order_code
}

async fn save(user: &mut PanelUser, url: &str, form: &str) -> Page {
    let page = user.open("/webhook").await;
    let filled = [("url", url), ("authorization", form)];
    user.submit(&page.form("/webhook"), &filled).await
}

async fn webhook_url_is_registered_tested_and_removed(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let receiver = Receiver::start().await;
    let mut user = service.user().await;
    let page = user.open("/webhook").await;
    assert!(
        page.has("Henüz adres yok") && !page.html.contains("/webhook/test"),
        "{}",
        page.html
    );
    let page = save(&mut user, "http://93.184.215.14/olay", "bearer").await;
    assert!(page.has("Webhook kaydedildi."), "{}", page.text());
    assert!(page.has("Adres şifresiz http"), "{}", page.text());
    let page = save(&mut user, &receiver.url("/olay"), "bare").await;
    // The port is closed.
    assert!(!page.has("Adres şifresiz http"), "{}", page.text());
    assert_eq!(page.form("/webhook").value("authorization"), "bare");
    let kept = service.a.get("/webhook").await.data();
    assert_eq!(
        (&kept["url"], &kept["authorization"]),
        (&json!(receiver.url("/olay")), &json!("bare"))
    );

    // A test says what the receiver answered.
    let page = user.submit(&page.form("/webhook/test"), &[]).await;
    assert!(
        page.has("Test olayı kabul edildi; alıcının yanıtı: 200"),
        "{}",
        page.text()
    );
    let seen = receiver.seen();
    assert_eq!(seen[0].json()["olay"], json!("test"));
    assert_eq!(seen[0].header("authorization"), Some(service.a.key.as_str()));
    receiver.next(CannedResponse::Status(503));
    let page = user.submit(&page.form("/webhook/test"), &[]).await;
    assert!(
        page.has("yalnızca 2xx başarı sayılır. Alıcının yanıtı: 503"),
        "{}",
        page.text()
    );
    receiver.stop_listening().await;
    let page = user.submit(&page.form("/webhook/test"), &[]).await;
    assert!(
        page.has("Adrese ulaşılamadı: bağlanılamadı: bağlantı reddedildi"),
        "{}",
        page.text()
    );

    // What is wrong with an address is said beside it, and nothing has changed.
    let page = save(&mut user, "ftp://<x>", "bearer").await;
    assert_eq!(page.status, 422);
    assert!(page.has("Bu adrese gönderilemez"), "{}", page.text());
    assert_eq!(page.form("/webhook").value("url"), "ftp://<x>");
    assert_eq!(
        service.a.get("/webhook").await.data()["authorization"],
        json!("bare")
    );

    let page = user.open("/webhook").await;
    let (form, tested) = (page.form("/webhook/remove"), page.form("/webhook/test"));
    let page = user.submit(&form, &[]).await;
    assert!(page.has("Webhook kaldırıldı."), "{}", page.text());
    assert_eq!(service.a.get("/webhook").await.data()["url"], json!(null));
    // A page that is still open shows an error.
    let page = user.submit(&tested, &[]).await;
    assert!(page.has("Webhook adresi kayıtlı değil"), "{}", page.text());
}

async fn revision_events_can_be_selected(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let mut user = service.user().await;
    let page = user.open("/webhook").await;
    let address = "https://kasa.example.com/olay";
    let ticked = [("url", address), ("orderUpdates", "on")];
    let page = user.submit(&page.form("/webhook"), &ticked).await;
    assert!(
        page.has("Sipariş sonradan değişirse de bildir"),
        "{}",
        page.text()
    );
    assert_eq!(
        service.a.get("/webhook").await.data()["orderUpdates"],
        json!(true)
    );
    // What is wrong with the address leaves the choice as it was ticked, and as it was.
    let wrong = [("url", "ftp://x"), ("orderUpdates", "on")];
    assert_eq!(user.submit(&page.form("/webhook"), &wrong).await.status, 422);
    assert_eq!(
        service.a.get("/webhook").await.data()["orderUpdates"],
        json!(true)
    );
    let page = save(&mut user, address, "bearer").await;
    assert!(page.has("Webhook kaydedildi."), "{}", page.text());
}

async fn attempts_are_explained_and_can_be_resent(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let shop = service.shop(&service.a, "Çarşı <b>").await;
    let receiver = Receiver::start().await;
    let mut user = service.user().await;
    save(&mut user, &receiver.url("/olay"), "bearer").await;
    receiver.next(CannedResponse::Status(500));
    let order = shop.order("K-1").await;
    wait_until("the attempt has failed", async || {
        service.count("events WHERE failures = 1") == 1
    })
    .await;
    let page = user.open("/webhook?state=pending").await;
    assert!(
        page.has("500 yanıtı verdi; yalnızca 2xx başarı sayılır"),
        "{}",
        page.text()
    );
    assert!(page.has("Çarşı <b>") && !page.html.contains("Çarşı <b>"));
    let link = page
        .links()
        .into_iter()
        .find(|it| it.starts_with("/webhook/deliveries/"))
        .unwrap();
    let mut english = user.clone();
    english.in_english();
    let page = english.open(&link).await;
    let attempts = page.within("attempts", "table");
    assert!(
        attempts.has("answered 500, only 2xx is success"),
        "{}",
        attempts.text()
    );
    assert!(
        attempts.has("01 Mar 2026, 12:00:00") && attempts.has("connect "),
        "{}",
        attempts.text()
    );
    assert!(attempts.has("first byte ") && attempts.has(&receiver.url("/olay")));
    assert!(page.links().contains(&format!("/orders/{order}")));
    assert!(
        page.has("Order K-1") && page.has("\"pid\": \"K-1\""),
        "{}",
        page.text()
    );
    assert!(page.has("the receiver's answer was not 2xx") && page.has("Next attempt"));

    // By hand: a refusal is said, and then it is delivered.
    receiver.next(CannedResponse::Status(404));
    let page = user.open(&link).await;
    let form = page.form(&format!("{link}/resend"));
    let page = user.submit(&form, &[]).await;
    assert_eq!(page.path, link);
    assert!(
        page.has("Alıcı olayı kabul etmedi; yanıtı: 404"),
        "{}",
        page.text()
    );
    let page = user.submit(&form, &[]).await;
    assert!(
        page.has("Olay yeniden gönderildi; alıcının yanıtı: 200"),
        "{}",
        page.text()
    );
    assert!(page.has("elle gönderildi: 404 yanıtı verdi"), "{}", page.text());
    assert!(
        page.within("attempts", "table")
            .has("elle gönderildi: 200 yanıtı verdi")
    );
    assert!(page.has("Teslim edildi"));
    assert_eq!(receiver.count(), 3);

    // The log of one order, and of one that there is not.
    let page = user.open("/webhook?order=K-1").await;
    assert_eq!(
        page.links()
            .iter()
            .filter(|it| it.starts_with("/webhook/deliveries/"))
            .count(),
        1
    );
    let page = user.open("/webhook?order=K-2").await;
    assert!(page.has("Bu numarayla ya da kodla bir sipariş bulunamadı") && page.has("Gönderim yok"));

    // None of it is a neighbour's.
    let mut theirs = service.user_of("second@example.com").await;
    assert_eq!(theirs.open(&link).await.status, 404);
    let page = theirs.open("/webhook").await;
    assert!(!page.html.contains("/webhook/deliveries/") && !page.html.contains(&receiver.url("")));
    let body = page.form("/webhook").body(&[]);
    let reply = theirs.send("POST", &format!("{link}/resend"), &[], &body).await;
    assert!([303, 404].contains(&reply.status), "{}", reply.status);
    assert_eq!(receiver.count(), 3);
}

async fn log_can_be_searched_by_order_code(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let order = async |id: &str, code: &str| {
        let mut body = order_body(&shop.store, id, 10_000);
        body["shortCode"] = json!(code);
        let data = shop.post(body.to_string().as_bytes()).await.data();
        data["orderId"].as_str().unwrap().to_owned()
    };
    let old = order("PLATFORM-1", "b12").await;
    let other = order("PLATFORM-2", "B123").await;
    let new = order("PLATFORM-3", "B12").await;
    let mut user = service.user().await;
    let listed = |page: &Page| -> Vec<String> {
        let links = page.links().into_iter();
        links.filter(|it| it.starts_with("/orders/")).collect()
    };
    let ways = |ids: &[&String]| -> Vec<String> { ids.iter().map(|id| format!("/orders/{id}")).collect() };
    let page = user.open("/webhook").await;
    assert_eq!(listed(&page), ways(&[&new, &other, &old]));
    assert!(page.has("B123") && !page.has("PLATFORM-2"), "{}", page.text());
    for (text, found, has_namesakes) in [
        ("b123", vec![&other], false),
        ("PLATFORM-1", vec![&old], false),
        ("B12", vec![&new], true),
        ("B1", vec![], false),
        ("%25", vec![], false),
    ] {
        let page = user.open(&format!("/webhook?order={text}")).await;
        assert_eq!(listed(&page), ways(&found), "{text}");
        assert_eq!(page.has("daha eski siparişler de var"), has_namesakes, "{text}");
        let is_unknown = page.has("Bu numarayla ya da kodla bir sipariş bulunamadı");
        assert_eq!(is_unknown, found.is_empty(), "{text}");
        let all = page.links().contains(&format!("/orders?q={text}"));
        assert_eq!(all, has_namesakes, "{text}");
    }
    // A code of another account is not found.
    let mut theirs = service.user_of("second@example.com").await;
    assert!(listed(&theirs.open("/webhook?order=B123").await).is_empty());
}

async fn log_is_paged_and_all_failures_are_resent(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let account = accounts::by_email(&service.app, "first@example.com")
        .await
        .unwrap();
    let restaurant: RestaurantId = shop.restaurant.parse().unwrap();
    write_failed_events(&service.app.store, account.id, restaurant, 60, service.app.now()).await;
    let mut user = service.user().await;
    // Pages meet without a gap, there and back.
    let lines = |page: &Page| -> Vec<String> {
        let links = page.links();
        links
            .into_iter()
            .filter(|it| it.starts_with("/webhook/deliveries/"))
            .collect()
    };
    let way = |page: &Page, mark: &str| {
        let found = page.html.find(&format!("rel=\"{mark}\" href=\""))?;
        let rest = &page.html[found + mark.len() + 13..];
        Some(rest[..rest.find('"')?].replace("&#38;", "&"))
    };
    let mut page = user.open("/webhook?state=failed").await;
    let mut walked = vec![lines(&page)];
    while let Some(older) = way(&page, "next") {
        page = user.open(&older).await;
        walked.push(lines(&page));
    }
    let sizes: Vec<usize> = walked.iter().map(Vec::len).collect();
    assert_eq!(sizes, [25, 25, 10]);
    let all: std::collections::BTreeSet<&String> = walked.iter().flatten().collect();
    assert_eq!(all.len(), 60);
    let back = user.open(&way(&page, "prev").unwrap()).await;
    assert_eq!(lines(&back), walked[1]);
    assert_eq!(lines(&user.open("/webhook?state=delivered").await).len(), 0);

    // Without an address there is nothing to send to; with one, all of it goes.
    let receiver = Receiver::start().await;
    save(&mut user, &receiver.url("/olay"), "bearer").await;
    let page = user.open("/webhook").await;
    let form = page.form("/webhook/resend");
    assert_eq!(form.value("since"), "2026-02-28T12:00", "a day ago in Istanbul");
    let wrong = user.submit(&form, &[("since", "yesterday")]).await;
    assert!(wrong.has("Geçerli bir tarih ve saat girin."), "{}", wrong.text());
    let page = user.submit(&form, &[]).await;
    assert!(page.has("bulunan olay: 60"), "{}", page.text());
    receiver.wait_for(60).await;
    wait_until("it is done", async || {
        let page = user.open("/webhook").await;
        page.has("60 / 60") && page.has("bitti")
    })
    .await;
    wait_until("all are delivered", async || {
        service.count("events WHERE state = 'delivered'") == 60
    })
    .await;
}

async fn log_is_filtered_by_event_and_day(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let shop = service.shop(&service.a, "s").await;
    shop.order("A").await;
    service.a.act("/orders/verify/A").await.data();
    service.advance(std::time::Duration::from_secs(24 * 60 * 60));
    shop.order("B").await;
    shop.cancel("B", json!({})).await.success();
    let mut user = service.user().await;
    let mut listed = async |query: &str| -> usize {
        let page = user.open(&format!("/webhook?{query}")).await;
        assert_eq!(page.status, 200, "{query}");
        let links = page.links().into_iter();
        links.filter(|it| it.starts_with("/webhook/deliveries/")).count()
    };
    for (query, count) in [
        ("", 5),
        ("event=siparis.olusturuldu", 2),
        ("event=siparis.durum_degisti", 1),
        ("event=siparis.iptal_edildi", 1),
        ("event=unknown", 5),
        ("event=entegrasyon.durum_degisti", 1),
        ("from=2026-03-01&to=2026-03-01", 3),
        ("from=2026-03-02", 2),
        ("to=2026-02-28", 0),
        ("from=2026-03-02&event=siparis.olusturuldu", 1),
        ("from=2026-03-02&event=siparis.durum_degisti", 0),
        ("event=siparis.olusturuldu&order=A", 1),
        ("state=skipped&event=siparis.iptal_edildi", 1),
        ("state=delivered&event=siparis.iptal_edildi", 0),
    ] {
        assert_eq!(listed(query).await, count, "{query}");
    }
    // The form keeps what was chosen, and an invalid day is marked.
    let page = user
        .open("/webhook?event=siparis.olusturuldu&from=2026-03-02&to=2026-03-02")
        .await;
    let forms = page.forms();
    let form = forms
        .iter()
        .find(|form| form.fields.iter().any(|(name, _)| name == "event"))
        .unwrap();
    assert_eq!(
        (form.value("event"), form.value("from"), form.value("to")),
        ("siparis.olusturuldu", "2026-03-02", "2026-03-02")
    );
    let page = user.open("/webhook?from=2026-02-30").await;
    assert!(page.html.contains("aria-invalid"), "{}", page.text());
}

async fn answer_to_a_failed_attempt_is_shown_without_secrets(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let receiver = Receiver::start().await;
    let body = format!(
        "<b>table is gone</b>; you sent {} {}",
        service.a.key,
        "x".repeat(20_000)
    );
    let answer = format!(
        "HTTP/1.1 500 Oops\r\nX-Trace: t-1\r\nSet-Cookie: session=abcdefgh\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    receiver.next(CannedResponse::Bytes(answer.into_bytes()));
    let shop = service.shop(&service.a, "s").await;
    service
        .a
        .put("/webhook", &json!({ "url": receiver.url("/olay") }))
        .await
        .data();
    shop.order("K-1").await;
    wait_until("it has failed once", async || {
        service.count("events WHERE failures = 1") == 1
    })
    .await;
    service.advance(std::time::Duration::from_secs(600));
    wait_until("it is delivered", async || {
        service.count("events WHERE state = 'delivered'") == 1
    })
    .await;
    let listed = service.a.get("/webhook/deliveries?limit=1").await.data();
    let attempts = listed[0]["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2);
    let response = attempts[0]["response"].as_str().unwrap();
    assert!(response.contains("x-trace: t-1\n"), "{response}");
    assert!(
        response.contains("\n\n<b>table is gone</b>; you sent •••"),
        "{response}"
    );
    assert!(!response.contains(&service.a.key) && !response.contains("abcdefgh"));
    assert!(response.len() < 17_000, "{} bytes", response.len());
    // So is an answer that was accepted.
    let accepted = attempts[1]["response"].as_str().unwrap();
    assert!(accepted.starts_with("content-length: 0\n"), "{accepted}");
    let mut user = service.user().await;
    let id = listed[0]["id"].as_str().unwrap();
    let page = user.open(&format!("/webhook/deliveries/{id}")).await;
    assert!(
        page.has("x-trace: t-1") && page.has("<b>table is gone</b>"),
        "{}",
        page.text()
    );
    assert!(!page.html.contains("<b>table is gone"), "the answer is no markup");
    assert!(!page.html.contains(&service.a.key));
}

async fn optional_events_can_be_selected(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let receiver = Receiver::start().await;
    let mut user = service.user().await;
    let chosen = async || service.a.get("/webhook").await.data()["optionalEvents"].clone();
    let page = user.open("/webhook").await;
    let url = receiver.url("/olay");
    let filled = [
        ("url", url.as_str()),
        ("urun.durum_degisti", "on"),
        ("menu.degisti", "on"),
    ];
    let page = user.submit(&page.form("/webhook"), &filled).await;
    assert!(page.has("Webhook kaydedildi."), "{}", page.text());
    assert_eq!(chosen().await, json!(["urun.durum_degisti", "menu.degisti"]));
    // An address that is refused changes nothing, and the form keeps what was chosen.
    let mut form = page.form("/webhook");
    form.fields.retain(|(name, _)| name != "menu.degisti");
    let page = user.submit(&form, &[("url", "x")]).await;
    assert_eq!(page.status, 422);
    assert_eq!(chosen().await, json!(["urun.durum_degisti", "menu.degisti"]));
    let form = page.form("/webhook");
    assert!(
        form.boxes.contains(&("menu.degisti".to_owned(), "on".to_owned())),
        "{form:?}"
    );
    user.submit(&form, &[("url", &url)]).await;
    assert_eq!(chosen().await, json!(["urun.durum_degisti"]));
}
