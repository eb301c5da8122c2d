//! Every page at four widths and in both themes, compared with stored pictures, so that changes are seen.
//!
//! `GARSON_TEST_RECORD=1` stores the pictures anew. A difference is written to `target/screenshots/looks/`.

use crate::panel::every_page::furnished;
use crate::support::{
    Backend, Browser, PanelUser, Picture, Scheme, Shop, TestService, block_on, order_body,
    screenshots_folder, wait_until,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Widths of a phone, a tablet, a desk and a wall, and the scale of the stored picture.
type Screen = (u32, u32, f64);
const SCREENS: [Screen; 4] = [
    (390, 800, 0.3),
    (768, 1_000, 0.25),
    (1_440, 900, 0.25),
    (2_560, 1_300, 0.2),
];
/// The rest of a long page is more of the same.
const LONGEST: f64 = 2_000.0;
/// Dots that may differ in a picture.
const MOST_DIFFERENCES: usize = 20;

/// What differs from run to run gets a fixed text: ids, keys, secrets, ports, durations, the browser's version, other open boards.
const MASK: &str = r"
    const fixed = (text) => text
        .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '00000000-0000-0000-0000-000000000000')
        .replace(/[0-9a-f]{8}…[0-9a-f]{4}/g, '00000000…0000').replace(/^…[\w-]{4}$/, '…0000')
        .replace(/\b(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}\b/g, 'AAAA '.repeat(8).trim())
        .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080').replace(/[\d.,]+ ms/g, '1 ms').replace(/Chrome \d+/g, 'Chrome 1');
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const text = fixed(walker.currentNode.data);
        if (text !== walker.currentNode.data) walker.currentNode.data = text;
    }
    for (const input of document.querySelectorAll('input:not([type=hidden]), textarea')) input.value = fixed(input.value);
    // The QR code of a second factor.
    for (const code of document.querySelectorAll('main p > svg[role=img] path')) code.remove();
    const watching = document.getElementById('watching')?.closest('.card');
    if (watching) watching.hidden = true;
    document.activeElement?.blur();
    scrollTo(0, 0);";

/// What a page needs to look the same every time: a board that is connected, and fonts.
const READY: &str = "const live = document.getElementById('live');
    return document.readyState === 'complete' && document.fonts.status === 'loaded'
        && (!live || live.classList.contains('good'))";

#[test]
fn every_page_looks_as_stored_on_small_screens() {
    compare_pages(&SCREENS[..2]);
}

#[test]
fn every_page_looks_as_stored_on_large_screens() {
    compare_pages(&SCREENS[2..]);
}

fn compare_pages(screens: &[Screen]) {
    block_on(async {
        let (service, user, paths) = filled_service().await;
        let mut names = BTreeSet::new();
        // Other filters of the same page look alike.
        let paths: Vec<String> = paths
            .into_iter()
            .filter(|it| names.insert(file_name(it)))
            .collect();
        // Two browsers take half of the time.
        let (first, second) = paths.split_at(paths.len() / 2);
        let (first, second) = tokio::join!(
            pictures(&service, &user, first.to_vec(), screens),
            pictures(&service, &user, second.to_vec(), screens)
        );
        let mut compared = Comparison::default();
        for (name, picture) in first.into_iter().chain(second) {
            compared.add(&name, &picture);
        }
        compared.finish(screens);
    });
}

/// Pictures of some pages by their names, at some widths in both themes.
async fn pictures(
    service: &TestService,
    user: &PanelUser,
    paths: Vec<String>,
    screens: &[Screen],
) -> Vec<(String, Picture)> {
    let browser = open_browser(service, user).await;
    let mut taken = Vec::new();
    for path in paths {
        if path == "/sign-in" {
            browser.forget_cookies().await;
        }
        browser.go(&path).await;
        browser.becomes("the page is shown", READY, &[]).await;
        browser.run(MASK, &[]).await;
        for (scheme, theme) in [(Scheme::Light, "light"), (Scheme::Dark, "dark")] {
            browser.prefer(scheme).await;
            for (width, height, scale) in screens.iter().copied() {
                let picture = shoot(&browser, width, height, scale).await;
                taken.push((format!("{}-{width}-{theme}", file_name(&path)), picture));
            }
        }
    }
    taken
}

/// A comparison that finds nothing must be able to.
#[test]
fn a_moved_button_is_seen() {
    block_on(async {
        let (service, user, _) = filled_service().await;
        let browser = open_browser(&service, &user).await;
        browser.go("/keys").await;
        browser.becomes("the page is shown", READY, &[]).await;
        for (width, height, scale) in SCREENS {
            let before = shoot(&browser, width, height, scale).await;
            let again = shoot(&browser, width, height, scale).await;
            assert_eq!(again.differences(&before), 0, "{width}");
            let script = "document.querySelector('main button.main').style.translate = arguments[0]";
            browser.run(script, &[json!("0 12px")]).await;
            let after = shoot(&browser, width, height, scale).await;
            let count = after.differences(&before);
            assert!(count > MOST_DIFFERENCES, "{width}: {count}");
            browser.run(script, &[json!("none")]).await;
        }
    });
}

/// A service whose data and clock are always the same, and the paths of its pages.
async fn filled_service() -> (TestService, PanelUser, Vec<String>) {
    let service = TestService::open(Backend::Sqlite).await;
    fill_board(&service).await;
    let (user, mut paths) = furnished(&service).await;
    wait_until("the first attempt has failed", async || {
        let deliveries = service.a.get("/webhook/deliveries").await.data();
        let attempted = |it: &Value| it["attempts"].as_array().is_some_and(|it| !it.is_empty());
        deliveries.as_array().unwrap().iter().any(attempted)
    })
    .await;
    wait_until("the failed call is in the request log", async || {
        service.count("request_log WHERE status = 404") == 1
    })
    .await;
    let public = [
        "/nothing-here",
        "/docs/api/",
        "/docs/en/first-order",
        "/offline",
        "/sign-in",
    ];
    paths.extend(public.map(str::to_owned));
    (service, user, paths)
}

/// A signed-in browser whose clock does not move.
async fn open_browser(service: &TestService, user: &PanelUser) -> Browser {
    let browser = Browser::open(service.addr).await;
    let frozen = "{ const start = Date.now() - Date.now() % 60000; Date.now = () => start; }";
    let source = json!({ "source": frozen });
    browser
        .command("Page.addScriptToEvaluateOnNewDocument", source)
        .await;
    browser.go("/offline").await;
    for (name, value) in &user.cookies {
        browser.keep_cookie(name, value).await;
    }
    browser
}

/// Orders in every column, some minutes apart, before there is a webhook.
async fn fill_board(service: &TestService) {
    let shop = service.shop(&service.a, "Moda").await;
    for (number, steps) in [(1, 3), (2, 2), (3, 1), (4, 1), (5, 0), (6, 0)] {
        let order = place(&shop, number).await;
        for _ in 0..steps {
            // Events of the same millisecond have no fixed order.
            service.advance(Duration::from_secs(1));
            let path = format!("/orders/change-status/{order}");
            service.a.act(&path).await.data();
        }
        service.advance(Duration::from_secs(240));
    }
}

async fn place(shop: &Shop, number: i64) -> String {
    let mut body = order_body(&shop.store, &format!("M-{number}"), 10_000 * number);
    body["customer"] = json!({ "name": "Deniz Ak" });
    body["items"] = json!([
        { "name": "Karışık pide", "quantity": number, "unitPrice": 10_000, "note": "Fıstıksız", "options": [
            { "name": "Ayran", "price": 0 }, { "name": "Soğan", "removed": true } ] },
    ]);
    let taken = shop.post(body.to_string().as_bytes()).await.data();
    taken["orderId"].as_str().unwrap().to_owned()
}

/// A small picture of the page.
async fn shoot(browser: &Browser, width: u32, height: u32, scale: f64) -> Picture {
    let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
    browser
        .command("Emulation.setDeviceMetricsOverride", metrics)
        .await;
    let tall = browser
        .run("return document.scrollingElement.scrollHeight", &[])
        .await;
    let tall = tall.as_f64().unwrap().min(LONGEST);
    let clip = json!({ "x": 0, "y": 0, "width": width, "height": tall, "scale": scale });
    Picture::decode(&browser.screenshot(Some(clip)).await).unwrap()
}

/// `/orders/01…/edit?x=1` as a file: `orders-one-edit`.
fn file_name(path: &str) -> String {
    let short = |part| if str::len(part) > 20 { "one" } else { part };
    let (path, question) = path.split_once('?').unwrap_or((path, ""));
    let mut parts: Vec<&str> = path.split('/').filter(|it| !it.is_empty()).map(short).collect();
    if parts.is_empty() {
        parts.push("board");
    }
    // An empty list and the kind of a form look different.
    parts.extend(question.strip_prefix("q=").filter(|it| *it == "nobody"));
    parts.extend(question.strip_prefix("kind="));
    parts.join("-")
}

#[derive(Default)]
struct Comparison {
    taken: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Comparison {
    fn add(&mut self, name: &str, shot: &Picture) {
        let stored = stored_folder().join(format!("{name}.png"));
        self.taken.insert(format!("{name}.png"));
        let before = Picture::read(&stored);
        let count = before
            .as_ref()
            .map_or(usize::MAX, |before| shot.differences(before));
        if count <= MOST_DIFFERENCES {
            return;
        }
        if is_recording() {
            shot.write(&stored);
            return;
        }
        let folder = screenshots_folder().join("looks");
        shot.write(&folder.join(format!("{name}.actual.png")));
        self.wrong.push(match before {
            None => format!("{name} has no stored picture"),
            Some(before) => {
                before.write(&folder.join(format!("{name}.stored.png")));
                shot.marked(&before)
                    .write(&folder.join(format!("{name}.difference.png")));
                format!("{name} differs in {count} dots")
            }
        });
    }

    /// Stored pictures of other widths are for the other test, except those of widths that no test has.
    fn finish(mut self, screens: &[Screen]) {
        let others = SCREENS.iter().filter(|it| !screens.contains(it));
        let others: Vec<String> = others.map(|(width, ..)| width.to_string()).collect();
        let is_of_others = |name: &str| {
            let width = name.rsplit('-').nth(1).unwrap_or_default();
            others.iter().any(|other| other == width)
        };
        for file in std::fs::read_dir(stored_folder()).into_iter().flatten() {
            let (path, name) = (file.as_ref().unwrap().path(), file.as_ref().unwrap().file_name());
            let name = name.to_str().unwrap();
            if self.taken.contains(name) || is_of_others(name) {
                continue;
            }
            if is_recording() {
                std::fs::remove_file(path).unwrap();
            } else {
                self.wrong
                    .push(format!("{} is the picture of no page", path.display()));
            }
        }
        assert!(
            self.wrong.is_empty(),
            "{}\nLook at {}. If this is intended: GARSON_TEST_RECORD=1 cargo nextest run -p e2e looks_as_stored",
            self.wrong.join("\n"),
            screenshots_folder().join("looks").display()
        );
    }
}

fn is_recording() -> bool {
    std::env::var_os("GARSON_TEST_RECORD").is_some()
}

fn stored_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/browser/looks")
}
