//! Menus are sent to a platform as a whole, where it is switched on, and the platform reports what came of them.

use super::killed::Killable;
use super::setup::{DISH, ProductWorld, by_provider};
use crate::support::{Backend, Reply, remote_id, request, send, wait_until};
use garson::config::Settings;
use garson_core::secret::Secret;
use garson_sim::Platform::Yemeksepeti;
use garson_sim::views::{Fault, ShopRequest};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

on_both! {
    menu_is_sent_and_the_platform_reports_its_import
    report_needs_the_token_and_the_id_of_its_import
    report_before_the_answer_is_kept
    catalog_in_flight_is_not_sent_again_after_the_service_was_killed
    log_of_the_platform_settles_a_catalog_without_a_report
    ; sqlite_only:
    catalog_is_refused_unless_it_is_switched_on
    errors_of_an_import_are_shown
    catalog_without_a_public_address_has_no_report
    refused_catalog_has_failed
    newest_catalogs_are_listed_first
}

/// An address that is known before the service has one.
struct FrontDoor {
    addr: SocketAddr,
    target: watch::Sender<Option<SocketAddr>>,
}

impl FrontDoor {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (target, targets) = watch::channel(None::<SocketAddr>);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut targets = targets.clone();
                tokio::spawn(async move {
                    let Ok(target) = targets.wait_for(Option::is_some).await.map(|it| *it) else {
                        return;
                    };
                    if let Ok(mut upstream) = TcpStream::connect(target.unwrap()).await {
                        let _ = tokio::io::copy_bidirectional(&mut client, &mut upstream).await;
                    }
                });
            }
        });
        Self { addr, target }
    }

    fn url(&self) -> String {
        format!("http://{}", self.addr)
    }
}

pub fn switch_on(settings: &mut Settings) {
    let terms = settings.platforms.get_mut("yemeksepeti").unwrap();
    let on = Secret::new("on".to_owned());
    terms.credentials.insert("catalog_push".to_owned(), on);
}

/// A restaurant whose menus can be sent, and whose platform reports.
pub async fn open(backend: Backend) -> Arc<ProductWorld> {
    let door = FrontDoor::open().await;
    let url = door.url();
    let world = ProductWorld::open_with(backend, move |settings| {
        switch_on(settings);
        settings.public_url = url;
    })
    .await;
    door.target.send_replace(Some(world.a.addr));
    Arc::new(world)
}

/// What the platform reports from now on; nothing if it is empty.
pub async fn report(world: &ProductWorld, result: &str) {
    world.change_shop(Yemeksepeti, catalog_result(result)).await;
}

fn catalog_result(result: &str) -> ShopRequest {
    ShopRequest {
        catalog_result: Some(result.to_owned()),
        ..ShopRequest::default()
    }
}

async fn push(world: &ProductWorld) -> Reply {
    let body = json!({ "from": "getir", "to": "yemeksepeti" });
    world.a.post(&world.path("/catalog"), &body).await
}

async fn wait_for(world: &ProductWorld, id: &Value, state: &str) -> Value {
    let path = format!("/catalog/{}", id.as_str().unwrap());
    wait_until(&format!("the catalog is {state}"), async || {
        world.get(&path).await.data()["state"] == json!(state)
    })
    .await;
    world.get(&path).await.data()
}

/// The last catalog that the platform has got.
async fn sent(world: &ProductWorld) -> Value {
    let journal = world.control.journal(Some(Yemeksepeti), 0).await.unwrap();
    let line = journal.into_iter().rfind(|line| line.operation == "catalog");
    serde_json::from_str(&line.unwrap().body.unwrap()).unwrap()
}

/// The path of the address for reports.
fn report_path(sent: &Value) -> String {
    let url = sent["callbackUrl"].as_str().unwrap();
    let (_, path) = url.split_once("/hooks/").unwrap();
    format!("/hooks/{path}")
}

async fn post_report(world: &ProductWorld, path: &str, body: &Value) -> Reply {
    let headers = [("content-type", "application/json")];
    let bytes = request("POST", path, &headers, body.to_string().as_bytes());
    send(world.a.addr, &bytes).await
}

async fn menu_is_sent_and_the_platform_reports_its_import(backend: Backend) {
    let world = open(backend).await;
    report(&world, "").await;
    let made = push(&world).await.data();
    assert_eq!(made["state"], json!("submitted"), "{made:#}");
    assert_eq!(
        (&made["from"], &made["to"]),
        (&json!("getir"), &json!("yemeksepeti"))
    );
    let body = sent(&world).await;
    assert_eq!(
        body["vendors"],
        json!([remote_id(Yemeksepeti)]),
        "one branch only"
    );
    // The dish has the id that the platform has for it; any other product the id that it has here.
    let items = body["catalog"]["items"].as_object().unwrap();
    let dish = &items[&world.dish["yemeksepeti"]];
    assert_eq!(dish["type"], json!("Product"), "{dish:#}");
    let path = "/products?kind=product&limit=200";
    let products = world.get(path).await.data();
    let others: Vec<&Value> = products
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| {
            let on = by_provider(&it["platforms"]);
            on.contains_key("getir") && !on.contains_key("yemeksepeti")
        })
        .collect();
    assert!(!others.is_empty());
    for product in &others {
        let id = product["id"].as_str().unwrap();
        assert_eq!(items[id]["type"], json!("Product"), "{id}");
    }

    report(&world, "in_progress").await;
    let working = wait_for(&world, &made["id"], "in_progress").await;
    assert_eq!(working["finishedAt"], Value::Null);
    report(&world, "done").await;
    let done = wait_for(&world, &made["id"], "done").await;
    assert!(
        done["finishedAt"].is_string() && done["importId"].is_string(),
        "{done:#}"
    );
    // The platform's items belong to the products.
    let id = others[0]["id"].as_str().unwrap();
    wait_until("the items are linked", async || {
        let product = world.get(&format!("/products/{id}")).await.data();
        by_provider(&product["platforms"])
            .get("yemeksepeti")
            .is_some_and(|it| it["itemId"] == json!(id))
    })
    .await;
    assert_eq!(
        world.find(DISH).await["id"],
        json!(world.product),
        "it is still one product"
    );
    // A later report changes nothing.
    let path = report_path(&body);
    let late = json!({ "catalogImportId": done["importId"], "status": "failed" });
    assert_eq!(post_report(&world, &path, &late).await.status, 200);
    let still = world
        .get(&format!("/catalog/{}", made["id"].as_str().unwrap()))
        .await;
    assert_eq!(still.data(), done);
    assert_eq!(world.calls(Yemeksepeti, "catalog").await, 1);
    let history = world.get("/history").await.data();
    for action in ["catalog_requested", "catalog_result"] {
        let entries = history.as_array().unwrap().iter();
        let count = entries.filter(|it| it["action"] == json!(action)).count();
        assert_eq!(count, 1, "{action}: {history:#}");
    }
    let foreign = world.path(&format!("/catalog/{}", made["id"].as_str().unwrap()));
    let reply = world.service.b.get(&foreign).await;
    reply.refused(404, "catalog_push_not_found");
}

async fn report_needs_the_token_and_the_id_of_its_import(backend: Backend) {
    let world = open(backend).await;
    report(&world, "").await;
    let made = push(&world).await.data();
    let path = report_path(&sent(&world).await);
    let body = json!({ "catalogImportId": made["importId"], "status": "done" });
    let (rest, token) = path.rsplit_once('/').unwrap();
    let reversed: String = token.chars().rev().collect();
    let (_, id) = rest.rsplit_once('/').unwrap();
    for wrong in [
        format!("{rest}/{reversed}"),
        format!("{rest}/{}", &token[1..]),
        format!("{path}x"),
        path.replace(id, "018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60"),
    ] {
        let reply = post_report(&world, &wrong, &body).await;
        reply.refused(404, "not_found");
    }
    let other = json!({ "catalogImportId": "another", "status": "done" });
    let reply = post_report(&world, &path, &other).await;
    reply.refused(422, "invalid_field");
    let reply = post_report(&world, &path, &json!({ "status": "done" })).await;
    reply.refused(422, "invalid_field");
    let large = json!({ "catalogImportId": made["importId"], "message": "x".repeat(2_000_000) });
    assert_eq!(post_report(&world, &path, &large).await.status, 413);
    let unchanged = world
        .get(&format!("/catalog/{}", made["id"].as_str().unwrap()))
        .await;
    assert_eq!(unchanged.data()["state"], json!("submitted"));
    // A word that is not known says nothing.
    let unknown = json!({ "catalogImportId": made["importId"], "status": "pondering" });
    assert_eq!(post_report(&world, &path, &unknown).await.status, 200);
    assert_eq!(post_report(&world, &path, &body).await.status, 200);
    wait_for(&world, &made["id"], "done").await;
}

async fn report_before_the_answer_is_kept(backend: Backend) {
    let world = open(backend).await;
    // The platform has it and reports, and its answer is lost.
    world
        .fault(Yemeksepeti, "catalog", Fault::DropAfterWork, Some(1))
        .await;
    let made = push(&world).await.data();
    let done = wait_for(&world, &made["id"], "done").await;
    assert!(done["importId"].is_string(), "{done:#}");
    wait_until("nothing is left to be done", async || {
        let open = "catalog_pushes WHERE due_at IS NOT NULL OR node IS NOT NULL";
        world.service.count(open) == 0
    })
    .await;
    let path = format!("/catalog/{}", made["id"].as_str().unwrap());
    assert_eq!(world.get(&path).await.data()["state"], json!("done"));
    assert_eq!(world.calls(Yemeksepeti, "catalog").await, 1);
    // The report comes while the answer is awaited.
    world
        .fault(Yemeksepeti, "catalog", Fault::TimeoutAfterWork, Some(1))
        .await;
    let made = push(&world).await.data();
    wait_for(&world, &made["id"], "done").await;
    assert_eq!(world.calls(Yemeksepeti, "catalog").await, 2);
}

async fn catalog_in_flight_is_not_sent_again_after_the_service_was_killed(backend: Backend) {
    let door = FrontDoor::open().await;
    let settings = vec![
        ("GARSON_PUBLIC_URL".to_owned(), door.url()),
        (
            "GARSON_PLATFORMS__YEMEKSEPETI__CATALOG_PUSH".to_owned(),
            "on".to_owned(),
        ),
    ];
    let mut killable = Killable::open_with(backend, settings).await;
    let addr = killable.platforms.a.addr;
    door.target.send_replace(Some(addr));
    let remote = remote_id(Yemeksepeti);
    killable
        .platforms
        .control
        .change_shop(Yemeksepeti, remote, &catalog_result(""))
        .await
        .unwrap();
    let menus = format!("/restaurants/{}/menus", killable.platforms.restaurant);
    wait_until("the menu is read", async || {
        let read = killable.platforms.a.get(&menus).await.data();
        by_provider(&read)["migros"]["readAt"].is_string()
    })
    .await;
    killable
        .platforms
        .fault(Yemeksepeti, "catalog", Fault::TimeoutAfterWork, Some(1))
        .await;
    let path = format!("/restaurants/{}/catalog", killable.platforms.restaurant);
    killable.begin("POST", &path, &json!({ "from": "migros", "to": "yemeksepeti" }));
    wait_until("the platform has it", async || {
        killable.calls_of(Yemeksepeti, "catalog").await == 1
    })
    .await;
    killable.kill_and_revive().await;
    let state = async || killable.platforms.a.get(&path).await.data()[0]["state"].clone();
    wait_until("the outcome is unclear", async || {
        state().await == json!("unclear")
    })
    .await;
    let listed = killable.platforms.a.get(&path).await.data();
    assert!(listed[0]["message"].is_string(), "{listed:#}");
    killable
        .platforms
        .control
        .change_shop(Yemeksepeti, remote, &catalog_result("done"))
        .await
        .unwrap();
    wait_until("the report is stored", async || state().await == json!("done")).await;
    assert_eq!(
        killable.calls_of(Yemeksepeti, "catalog").await,
        1,
        "it is not sent twice"
    );
}

async fn catalog_is_refused_unless_it_is_switched_on(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    push(&world).await.refused(409, "not_supported");
    for to in ["getir", "migros", "trendyol"] {
        let body = json!({ "from": "getir", "to": to });
        let reply = world.a.post(&world.path("/catalog"), &body).await;
        reply.refused(409, "not_supported");
    }
    let body = json!({ "from": "getir", "to": "nobody" });
    let reply = world.a.post(&world.path("/catalog"), &body).await;
    reply.refused(422, "invalid_field");
    assert!(reply.text().contains("direct, getir"), "{}", reply.text());
    assert_eq!(world.calls(Yemeksepeti, "catalog").await, 0);
    assert_eq!(world.get("/catalog").await.data(), json!([]));
}

async fn errors_of_an_import_are_shown(backend: Backend) {
    let world = open(backend).await;
    report(&world, "done_with_errors").await;
    let made = push(&world).await.data();
    let ended = wait_for(&world, &made["id"], "done_with_errors").await;
    assert_eq!(ended["message"], json!("some items were not imported"));
    let details = ended["details"].as_array().unwrap();
    assert!(details[0].as_str().unwrap().contains("image"), "{ended:#}");
    report(&world, "failed").await;
    let made = push(&world).await.data();
    wait_for(&world, &made["id"], "failed").await;
    // The platform's own menu cannot be sent to itself, and one that was not read not at all.
    for from in ["yemeksepeti", "direct"] {
        let body = json!({ "from": from, "to": "yemeksepeti" });
        let reply = world.a.post(&world.path("/catalog"), &body).await;
        reply.refused(422, "invalid_field");
    }
}

async fn catalog_without_a_public_address_has_no_report(backend: Backend) {
    let world = ProductWorld::open_with(backend, switch_on).await;
    let made = push(&world).await.data();
    assert_eq!(made["state"], json!("submitted"));
    assert!(sent(&world).await.get("callbackUrl").is_none());
    wait_until("the items are linked", async || {
        let on_platform = "platform_items WHERE provider = 'yemeksepeti'";
        world.service.count(on_platform) > 1
    })
    .await;
}

async fn refused_catalog_has_failed(backend: Backend) {
    let world = open(backend).await;
    let refusal = Fault::Status {
        status: 400,
        body: Some(json!({ "code": "BAD_REQUEST", "message": "no such catalog" })),
    };
    world.fault(Yemeksepeti, "catalog", refusal, Some(1)).await;
    let made = push(&world).await.data();
    let failed = wait_for(&world, &made["id"], "failed").await;
    assert!(
        failed["message"].as_str().unwrap().contains("no such catalog"),
        "{failed:#}"
    );
    // A platform that is away is asked again: it does not have the catalog.
    let away = Fault::Status {
        status: 429,
        body: None,
    };
    world.fault(Yemeksepeti, "catalog", away, Some(1)).await;
    let made = push(&world).await.data();
    let path = format!("/catalog/{}", made["id"].as_str().unwrap());
    wait_until("it is sent again", async || {
        world.world.advance_clock(5).await;
        world.wake();
        world.get(&path).await.data()["state"] == json!("done")
    })
    .await;
}

async fn newest_catalogs_are_listed_first(backend: Backend) {
    let world = open(backend).await;
    let mut made = Vec::new();
    for _ in 0..3 {
        world.world.advance_clock(1).await;
        made.push(push(&world).await.data()["id"].clone());
    }
    made.reverse();
    let mut listed = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = world.get(&format!("/catalog?limit=2{cursor}")).await.success();
        listed.extend(page["data"].as_array().unwrap().iter().map(|it| it["id"].clone()));
        match page["paging"]["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(listed, made);
    let reply = world.get("/catalog?cursor=x").await;
    reply.refused(422, "invalid_cursor");
}

async fn log_of_the_platform_settles_a_catalog_without_a_report(backend: Backend) {
    let world = ProductWorld::open_with(backend, switch_on).await;
    let imports = "/catalog/imports/yemeksepeti";
    assert_eq!(world.get(imports).await.data(), json!([]));
    report(&world, "").await;
    let made = push(&world).await.data();
    assert_eq!(made["state"], json!("submitted"));
    report(&world, "done_with_errors").await;
    // A log is cached for some seconds.
    wait_until("the log has it", async || {
        let log = world.get(imports).await.data();
        log[0]["importId"] == made["importId"] && log[0]["state"] == json!("done_with_errors")
    })
    .await;
    let log = world.get(imports).await.data();
    assert_eq!(log[0]["message"], json!("some items were not imported"));
    assert_eq!(log[1]["state"], json!("in_progress"), "{log:#}");
    assert!(log[0]["createdAt"].is_string());
    let ended = wait_for(&world, &made["id"], "done_with_errors").await;
    assert_eq!(ended["message"], json!("some items were not imported"));
    let calls = world.calls(Yemeksepeti, "catalog-log").await;
    world.get(imports).await.data();
    assert_eq!(world.calls(Yemeksepeti, "catalog-log").await, calls);
    // Others have no log, and another account has no restaurant.
    world
        .get("/catalog/imports/getir")
        .await
        .refused(409, "not_supported");
    let reply = world.service.b.get(&world.path(imports)).await;
    reply.refused(404, "restaurant_not_found");
}
