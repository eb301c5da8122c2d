//! The number of bytes that the board transfers.

use super::setup::browser_tests;

/// The most that a first look at the board may cost: page, style and script, as they are sent.
const MOST_BYTES: u64 = 60_000;

browser_tests! {
    the_board_is_light_on_the_wire
}

mod case {
    use super::super::setup::Setup;
    use super::MOST_BYTES;
    use crate::support::wait_until;
    use serde_json::{Value, json};

    pub async fn the_board_is_light_on_the_wire(setup: Setup) {
        let (browser, service) = (&setup.browser, &setup.world.service);
        // More than a busy evening has open at a time.
        let shop = service.shop(&service.a, "Moda 2").await;
        for n in 0..60 {
            shop.order_of(&format!("K-{n}"), 12_345 + n).await;
        }
        browser.command("Network.enable", json!({})).await;
        browser.command("Network.clearBrowserCache", json!({})).await;
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
        println!("{sum} bytes over the wire with 60 orders: {parts:?}");
        assert!(sum < MOST_BYTES, "{sum} bytes: {seen:#}");
    }
}
