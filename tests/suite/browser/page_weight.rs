//! The number of bytes that the board transfers.

use super::setup::browser_tests;

/// The most that a first look at the board may cost: page, style and script, as they are sent.
const MOST_BYTES: u64 = 60_000;

browser_tests! {
    the_board_is_light_on_the_wire
    board_with_300_different_cards_is_light
}

mod case {
    use super::super::setup::Setup;
    use super::MOST_BYTES;
    use crate::support::{order_body, wait_until};
    use serde_json::{Value, json};

    pub async fn the_board_is_light_on_the_wire(setup: Setup) {
        let service = &setup.world.service;
        // More than a busy evening has open at a time.
        let shop = service.shop(&service.a, "Moda 2").await;
        for n in 0..60 {
            shop.order_of(&format!("K-{n}"), 12_345 + n).await;
        }
        assert_light(&setup).await;
    }

    /// As many as the board shows, each with other items, options, notes and names.
    pub async fn board_with_300_different_cards_is_light(setup: Setup) {
        let service = &setup.world.service;
        let shop = service.shop(&service.a, "Moda 2").await;
        let dishes = [
            "Adana dürüm",
            "Karışık pide",
            "Künefe",
            "Mercimek çorbası",
            "Lahmacun",
            "İskender",
            "Ayran",
        ];
        let names = [
            "İpek Yıldız",
            "Çağlar Öz",
            "Deniz Ak",
            "Şule Gün",
            "Murat Er",
            "Elif Su",
        ];
        for n in 0..300_usize {
            let mut body = order_body(
                &shop.store,
                &format!("{}", 948_213_000_000_u64 + n as u64 * 7_919),
                300,
            );
            let item = |at: usize| {
                json!({ "name": dishes[(n * at + at) % 7], "quantity": 1 + (n + at) % 3, "unitPrice": 100,
                "options": [{ "name": dishes[(n + at) % 7] }, { "name": "Soğan", "removed": n % 2 == 0 }] })
            };
            body["items"] = json!([item(1), item(2), item(3)]);
            body["items"][0]["note"] = json!(format!("Az acılı, {} dilim", n % 9));
            body["note"] = json!(format!("Kapı {n}, zile basmayın"));
            body["customer"] = json!({ "name": names[n % 6] });
            shop.post(body.to_string().as_bytes()).await.data();
        }
        assert_light(&setup).await;
    }

    async fn assert_light(setup: &Setup) {
        let browser = &setup.browser;
        browser.command("Network.enable", json!({})).await;
        browser.command("Network.clearBrowserCache", json!({})).await;
        // What passes the service worker is not measured.
        let bypass = json!({ "bypass": true });
        browser.command("Network.setBypassServiceWorker", bypass).await;
        setup.open_board().await;
        let script = "const of = (kind) => performance.getEntriesByType(kind);
            return { parts: [...of('navigation'), ...of('resource')].map((it) => [it.name, it.transferSize, it.decodedBodySize]),
                paints: of('paint').length }";
        wait_until("it is painted", async || {
            browser.run(script, &[]).await["paints"].as_u64() > Some(0)
        })
        .await;
        let seen = browser.run(script, &[]).await;
        let parts = seen["parts"].as_array().unwrap();
        // Page, style and script; the stream goes on and is not counted.
        assert!(parts.len() >= 3, "{seen}");
        for part in parts.iter().take(3) {
            assert!(part[1].as_u64().unwrap() > 0, "came from the cache: {part}");
        }
        let sum: u64 = parts.iter().filter_map(|part: &Value| part[1].as_u64()).sum();
        println!("{sum} bytes over the wire: {parts:?}");
        assert!(sum < MOST_BYTES, "{sum} bytes: {seen:#}");
    }
}
