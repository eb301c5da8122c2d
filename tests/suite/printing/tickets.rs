//! `GET /orders/{orderId}/ticket` in every format, and the same in the panel.

use crate::support::{Shop, TestService, order_body, raw, request};
use serde_json::json;

cases! {
    ticket_is_served_in_every_format
    ; sqlite_only:
    wrong_parameters_are_refused
    hostile_texts_do_not_reach_the_printer
    ticket_page_is_protected
}

async fn order(shop: &Shop, note: &str) -> String {
    let mut body = order_body(&shop.store, "K-1", 44_000);
    body["shortCode"] = json!("A12");
    body["note"] = json!(note);
    body["items"] = json!([
        { "name": "Adana dürüm", "quantity": 2, "unitPrice": 18_000, "note": "fıstıksız", "options": [
            { "group": "İçecek", "name": "Ayran", "quantity": 1, "price": 4_000 },
            { "name": "Soğan", "removed": true },
        ] },
    ]);
    body["customer"] = json!({ "name": "İpek Çağlar", "address": { "text": "Moda Cad. 12" } });
    shop.post(body.to_string().as_bytes()).await.data()["orderId"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn ticket_is_served_in_every_format(service: TestService) {
    let shop = service.shop(&service.a, "Çarşı").await;
    let id = order(&shop, "Zile basmayın").await;
    let get = async |query: &str| service.a.get(&format!("/orders/{id}/ticket{query}")).await;
    let html = get("").await;
    assert_eq!(
        (html.status, html.header("content-type")),
        (200, Some("text/html; charset=utf-8"))
    );
    assert_eq!(html.header("cache-control"), Some("no-store"));
    let page = html.text();
    assert!(
        page.contains("<html lang=\"tr\">") && page.contains("size:80mm "),
        "{page}"
    );
    assert!(
        page.contains("Mutfak fişi A12") && page.contains("<mark>fıstıksız</mark>"),
        "{page}"
    );
    let text = get("?format=text&kind=courier&width=58&lang=en").await;
    assert_eq!(text.header("content-type"), Some("text/plain; charset=utf-8"));
    assert!(text.text().contains("Collect ₺440 · Cash"), "{}", text.text());
    assert!(
        text.text().lines().all(|line| line.chars().count() <= 32),
        "{}",
        text.text()
    );
    let escpos = get("?format=escpos&kind=customer").await;
    assert_eq!(escpos.header("content-type"), Some("application/octet-stream"));
    assert!(escpos.body.starts_with(b"\x1b@\x1c.\x1da\x00\x1bt\x0d"));
    let other = get("?format=escpos&codepage=wpc1254:91").await;
    assert!(other.body.starts_with(b"\x1b@\x1c.\x1da\x00\x1bt\x5b"));
    // By the platform's id too.
    assert_eq!(service.a.get("/orders/K-1/ticket?format=text").await.status, 200);
    service
        .a
        .get("/orders/none/ticket")
        .await
        .refused(404, "order_not_found");
    service
        .b
        .get(&format!("/orders/{id}/ticket"))
        .await
        .refused(404, "order_not_found");
}

async fn wrong_parameters_are_refused(service: TestService) {
    let shop = service.shop(&service.a, "kadikoy").await;
    let id = shop.order("W-1").await;
    for (query, field) in [
        ("kind=chef", "kind"),
        ("width=90", "width"),
        ("format=pdf", "format"),
        ("lang=de", "lang"),
        ("copy=x", "copy"),
        ("codepage=pc857:300", "codepage"),
        ("format=escpos&width=a4", "width"),
        ("kind=kitchen&kind=courier", "kind"),
    ] {
        let reply = service.a.get(&format!("/orders/{id}/ticket?{query}")).await;
        reply.wrong(422, "invalid_parameter", field);
    }
    let mut user = service.user().await;
    assert_eq!(
        user.open(&format!("/orders/{id}/ticket?kind=chef")).await.status,
        422
    );
}

async fn hostile_texts_do_not_reach_the_printer(service: TestService) {
    let shop = service.shop(&service.a, "kadikoy").await;
    let hostile =
        "\u{1b}@\u{1d}V\u{0}\u{10}\u{14}\u{1}\u{1b}p0 \u{9b}31m <script>alert(1)</script> \u{202e}sol";
    let id = order(&shop, &hostile.replace('\0', "")).await;
    for width in ["58", "80"] {
        let path = format!("/orders/{id}/ticket?format=escpos&width={width}");
        let bytes = service.a.get(&path).await.body;
        let count = |command: &[u8]| bytes.windows(command.len()).filter(|it| *it == command).count();
        assert_eq!((count(b"\x1b@"), count(b"\x1dV"), count(b"\x1bp")), (1, 1, 0));
        assert!(!bytes.contains(&0x10) && !bytes.contains(&0x9b));
    }
    let text = service
        .a
        .get(&format!("/orders/{id}/ticket?format=text"))
        .await
        .text();
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    let html = service.a.get(&format!("/orders/{id}/ticket")).await.text();
    assert!(
        !html.contains("<script") && html.contains("&lt;script&gt;"),
        "{html}"
    );
}

async fn ticket_page_is_protected(service: TestService) {
    let shop = service.shop(&service.a, "kadikoy").await;
    let id = shop.order("W-1").await;
    let mut user = service.user().await;
    let path = format!("/orders/{id}/ticket?kind=customer&width=a4");
    let reply = user.send("GET", &path, &[], "").await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let policy = reply.header("content-security-policy").unwrap();
    assert!(
        policy.contains("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(policy.contains("frame-ancestors 'self'"), "{policy}");
    assert_eq!(reply.header("x-frame-options"), Some("SAMEORIGIN"));
    assert!(reply.text().contains("size:A4"));
    let mut visitor = service.anonymous_user();
    let page = visitor.open(&path).await;
    assert!(page.path.starts_with("/sign-in"), "{}", page.path);
    let bytes = raw(service.addr, &request("GET", &path, &[], &[])).await;
    assert!(!String::from_utf8_lossy(&bytes).contains("Lahmacun"));
}
