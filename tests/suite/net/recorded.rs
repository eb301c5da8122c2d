//! Every request to every platform, byte for byte, as it arrives at a socket.
//!
//! The files in `recorded/` hold the requests. `GARSON_TEST_RECORD=1` writes them anew; look at the difference before it is kept.

use super::door::private;
use crate::support::block_on;
use garson::flow::line::outgoing;
use garson::net::Log;
use garson_core::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use garson_core::integration::Credentials;
use garson_core::order::{CallKind, Home, Order, Reason, Status, place};
use garson_core::platform::{
    Errand, HookRequest, HttpRequest, HttpResponse, Link, MenuStep, News, Platform, Verified, Window,
};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use uuid::Uuid;

macro_rules! fixture {
    ($path:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../crates/garson-platforms/src/",
            $path
        ))
    };
}

const RECORD: &str = "GARSON_TEST_RECORD";
/// What stands in the recordings for the address that the platform has in the test.
const HOST: &str = "platform.example";
const VERIFY: CallKind = CallKind::Verify;
const READY: CallKind = CallKind::Ready;
const CANCEL: CallKind = CallKind::Cancel;
const ON_THE_WAY: CallKind = CallKind::Tell(Status::OnTheWay);
const DELIVERED: CallKind = CallKind::Tell(Status::Delivered);

/// One platform, one branch of it, and the requests that are made there.
struct Side {
    platform: &'static dyn Platform,
    base: String,
    branch: &'static str,
    credentials: Credentials,
    token: Secret<String>,
    requests: Vec<(String, HttpRequest)>,
}

impl Side {
    fn new(key: &str, base: &str, branch: &'static str, credentials: &[(&str, &str)]) -> Self {
        let secret = |(name, value): &(&str, &str)| ((*name).to_owned(), Secret::new((*value).to_owned()));
        Self {
            platform: garson_platforms::find(key).unwrap(),
            base: base.to_owned(),
            branch,
            credentials: credentials.iter().map(secret).collect(),
            token: Secret::new("session-token-1".to_owned()),
            requests: Vec::new(),
        }
    }

    fn link(&self) -> Link<'_> {
        Link {
            base: &self.base,
            branch: self.branch,
            credentials: &self.credentials,
            token: Some(&self.token),
            callback_hosts: &[],
        }
    }

    /// The order in a message of that kind, at that status.
    fn order(&self, kind: &'static str, body: &str, status: Status) -> Order {
        let request = HookRequest {
            kind,
            params: vec![("remoteId".to_owned(), self.branch.to_owned())],
            body: body.replace("https://middleware.example/base", &self.base).into(),
            received_at: now(),
            ..HookRequest::default()
        };
        let News::Order(sighting) = self.platform.read(&Verified::ours(&request)).unwrap().news else {
            panic!("{body} is no order");
        };
        let id = Uuid::from_u128(0x018f_3c1e_7b1a_7c3e_8d2a_1b2c_3d4e_5f60);
        let home = Home {
            account_id: AccountId(id),
            restaurant_id: RestaurantId(id),
            integration_id: IntegrationId(id),
            provider: self.platform.provider(),
        };
        let mut order = place(OrderId(id), home, &sighting.order, now(), true, false).order;
        order.status = status;
        order
    }

    fn call(&mut self, name: &str, call: CallKind, order: &Order, reason: Option<&str>) {
        let reason = reason.map(|id| Reason {
            id: id.to_owned(),
            name: "Ürün kalmadı".to_owned(),
        });
        let errand = Errand {
            call,
            order,
            reason: reason.as_ref(),
            note: reason.as_ref().map(|_| "Lahmacun bitti"),
            preparation_minutes: Some(25),
            now: now(),
        };
        assert!(self.platform.wants(call, order, &self.credentials), "{name}");
        let request = self.platform.write(&errand, &self.link()).unwrap();
        self.add(name, request);
    }

    fn add(&mut self, name: &str, request: HttpRequest) {
        self.requests.push((name.to_owned(), request));
    }

    /// What is asked without an order in mind: sessions, lists, and the menu, with the answers that lead to it.
    fn questions(&mut self, pages: u32, menu: &[&str]) {
        let platform = self.platform;
        if let Some(request) = platform.login(&self.link()).unwrap() {
            self.add("login", request);
        }
        if let Some(request) = platform.enlist(&self.link()).unwrap() {
            self.add("enlist", request);
        }
        let window = Window {
            from: now(),
            to: now().plus(Duration::from_secs(900)),
        };
        for page in 0..pages {
            let request = platform.poll(&self.link(), &window, page).unwrap();
            self.add(&format!("poll-{page}"), request);
        }
        if !platform.capability().menu {
            return;
        }
        for known in 0..=menu.len() {
            let answer = |body: &&str| HttpResponse {
                status: 200,
                body: body.as_bytes().to_vec(),
            };
            let answers: Vec<_> = menu.iter().take(known).map(answer).collect();
            match platform.menu(&self.link(), &answers).unwrap() {
                MenuStep::Ask(request) => self.add(&format!("menu-{known}"), request),
                MenuStep::Menu(_) => assert_eq!(known, menu.len()),
            }
        }
    }

    /// What is asked about an order.
    fn look(&mut self, order: &Order) {
        let request = self.platform.look(order, &self.link()).unwrap();
        self.add("look", request);
        if self.platform.capability().live_reasons {
            let request = self.platform.reasons(order, &self.link()).unwrap();
            self.add("reasons", request);
        }
    }
}

fn now() -> Timestamp {
    "2026-03-01T15:25:00Z".parse().unwrap()
}

fn getir(base: &str) -> Side {
    let mut side = Side::new(
        "getir",
        base,
        "65f1c0de8a4b2f0012abffff",
        &[
            ("appSecretKey", "app-key-1"),
            ("restaurantSecretKey", "restaurant-key-1"),
        ],
    );
    const NEW: &str = fixture!("getir/fixtures/new-order.json");
    const SCHEDULED: &str = fixture!("getir/fixtures/scheduled-order.json");
    let carried = |by: u32| {
        let mut order: serde_json::Value = serde_json::from_str(NEW).unwrap();
        order["deliveryType"] = by.into();
        order.to_string()
    };
    let theirs = side.order("new-order", &carried(1), Status::New);
    let ours = side.order("new-order", &carried(2), Status::Preparing);
    let scheduled = side.order("new-order", SCHEDULED, Status::Scheduled);
    const NAMES_A_GROUP: &str =
        r#"{"productCategories":[{"id":"c","products":[{"id":"p","optionCategories":["size"]}]}]}"#;
    side.questions(2, &[NAMES_A_GROUP, "[]"]);
    side.look(&theirs);
    side.call("verify", VERIFY, &theirs, None);
    side.call("verify-scheduled", VERIFY, &scheduled, None);
    side.call("prepare", READY, &theirs, None);
    side.call("handover", ON_THE_WAY, &theirs, None);
    side.call("prepare-own-courier", ON_THE_WAY, &ours, None);
    side.call("deliver", DELIVERED, &ours, None);
    side.call("cancel", CANCEL, &theirs, Some("5c5b49a768f6a45d427f0a8e"));
    side
}

fn migros(base: &str) -> Side {
    let mut side = Side::new(
        "migros",
        base,
        "20417",
        &[
            ("apiKey", "restaurant-key-1"),
            ("secretKey", "0123456789abcdef0123456789ABCDEF"),
        ],
    );
    const OWN: &str = fixture!("migros/fixtures/order-created-restaurant.json");
    let new = side.order("order-created", OWN, Status::New);
    let accepted = side.order("order-created", OWN, Status::Preparing);
    side.questions(
        2,
        &[
            fixture!("migros/fixtures/store-detail.json"),
            fixture!("migros/fixtures/menu.json"),
        ],
    );
    side.look(&new);
    side.call("approved", VERIFY, &new, None);
    side.call("rejected", CANCEL, &new, Some("101"));
    side.call("prepared", READY, &accepted, None);
    side.call("delivery", ON_THE_WAY, &accepted, None);
    side.call("completed", DELIVERED, &accepted, None);
    side.call("cancel-order", CANCEL, &accepted, Some("101"));
    side
}

fn trendyol(base: &str) -> Side {
    let mut side = Side::new(
        "trendyol",
        base,
        "107703:3311",
        &[
            ("apiKey", "key-1"),
            ("apiSecret", "secret-1"),
            ("integratorName", "Garson"),
            ("executorUser", "kasa@example.com"),
        ],
    );
    const OWN: &str = fixture!("trendyol/fixtures/created_own_courier.json");
    let order = side.order("created", OWN, Status::New);
    side.questions(1, &[fixture!("trendyol/fixtures/menu.json")]);
    side.look(&order);
    side.call("picked", VERIFY, &order, None);
    side.call("invoiced", READY, &order, None);
    side.call("manual-shipped", ON_THE_WAY, &order, None);
    side.call("manual-delivered", DELIVERED, &order, None);
    side.call("unsupplied", CANCEL, &order, Some("621"));
    side
}

fn yemeksepeti(base: &str) -> Side {
    let mut side = Side::new(
        "yemeksepeti",
        base,
        "moda-1",
        &[
            ("username", "moda user"),
            ("password", "pass&word=1"),
            ("chainCode", "moda/zincir"),
            ("pluginSecret", "plugin-secret-1"),
        ],
    );
    const OWN: &str = fixture!("yemeksepeti/fixtures/order-own-courier.json");
    const RIDER: &str = fixture!("yemeksepeti/fixtures/order-platform-rider.json");
    let own = side.order("order", OWN, Status::New);
    let rider = side.order("order", RIDER, Status::Preparing);
    side.questions(1, &[]);
    side.look(&own);
    side.call("accepted", VERIFY, &own, None);
    side.call("rejected", CANCEL, &own, Some("ITEM_UNAVAILABLE"));
    side.call("picked-up", ON_THE_WAY, &own, None);
    side.call("preparation-completed", READY, &rider, None);
    side
}

fn direct(base: &str) -> Side {
    let url = format!("{base}/status?shop=1");
    let mut side = Side::new(
        "direct",
        base,
        "shop-1",
        &[("inboundKey", "shop-key-1"), ("callbackUrl", &url)],
    );
    let order = side.order("order", fixture!("direct/fixtures/order.json"), Status::New);
    side.questions(0, &[]);
    side.call("callback", ON_THE_WAY, &order, None);
    side
}

/// All that is sent before the answer, and after it until the connection is closed.
async fn receive(listener: &TcpListener) -> Vec<u8> {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = Vec::new();
    while !is_whole(&bytes) {
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "broken off");
    }
    let answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    stream.write_all(answer).await.unwrap();
    stream.read_to_end(&mut bytes).await.unwrap();
    bytes
}

fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "));
    length.is_none_or(|length| body.len() >= length.parse().unwrap())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/net/recorded")
}

#[test]
fn every_request_to_a_platform_is_as_recorded() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let base = format!("http://{address}");
        let sides = [
            direct(&base),
            getir(&base),
            migros(&base),
            trendyol(&base),
            yemeksepeti(&base),
        ];
        let keys = |platform: &&dyn Platform| platform.provider().as_str().to_owned();
        let recorded: Vec<_> = sides.iter().map(|side| keys(&side.platform)).collect();
        assert_eq!(
            recorded,
            garson_platforms::all().iter().map(keys).collect::<Vec<_>>()
        );
        let (client, mut names) = (private(), BTreeSet::new());
        for side in sides {
            for (name, request) in side.requests {
                let path = PathBuf::from(side.platform.provider().as_str()).join(format!("{name}.http"));
                let sending = outgoing(request, Duration::from_secs(60), Log::Never).unwrap();
                let (sent, bytes) = tokio::join!(client.send(sending), receive(&listener));
                assert_eq!(sent.unwrap().status, 200);
                let version = concat!("User-Agent: garson/", env!("CARGO_PKG_VERSION"), "\r\n");
                let text = String::from_utf8(bytes).unwrap();
                let text = text
                    .replace(&address, HOST)
                    .replace(version, "User-Agent: garson/VERSION\r\n");
                check(&path, &text);
                assert!(names.insert(path.clone()), "{path:?} stands for two requests");
            }
        }
        for known in files(&folder()) {
            assert!(
                names.contains(&known),
                "{known:?} is recorded, but nothing sends it"
            );
        }
    });
}

fn check(path: &Path, text: &str) {
    let file = folder().join(path);
    if std::env::var_os(RECORD).is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
    }
    let recorded = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(recorded, text, "{path:?}");
}

/// The recordings below a folder, by their paths in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = |path: &Path| {
        std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
    };
    entries(folder)
        .flat_map(|platform| entries(&platform).collect::<Vec<_>>())
        .map(|file| file.strip_prefix(folder).unwrap().to_owned())
        .collect()
}
