//! The platforms whose requests are recorded, and every request to each.

use garson_core::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use garson_core::integration::Credentials;
use garson_core::order::{CallKind, Order, OrderOwner, Reason, Status, place};
use garson_core::platform::{
    CallRequest, HookRequest, HttpRequest, HttpResponse, Link, MenuStep, News, Platform, Verified, Window,
};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;
use uuid::Uuid;

/// Where the platform is in the test, and where an order's addresses may be besides.
pub const HERE: &str = "127.0.0.1";
pub const ELSEWHERE: &str = "127.0.0.2";
macro_rules! fixture {
    ($path:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../crates/garson-platforms/src/",
            $path
        ))
    };
}

const VERIFY: CallKind = CallKind::Verify;
const READY: CallKind = CallKind::Ready;
const CANCEL: CallKind = CallKind::Cancel;
const ON_THE_WAY: CallKind = CallKind::Tell(Status::OnTheWay);
const DELIVERED: CallKind = CallKind::Tell(Status::Delivered);

/// One platform, one branch of it, and the requests that are made there.
pub struct Side {
    pub platform: &'static dyn Platform,
    base: String,
    branch: &'static str,
    credentials: Credentials,
    token: Secret<String>,
    callback_hosts: Vec<String>,
    pub requests: Vec<(String, HttpRequest)>,
    /// The kinds of calls among the requests.
    calls: BTreeSet<String>,
    /// Messages of orders that the platform treats differently.
    samples: Vec<(&'static str, String)>,
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
            callback_hosts: Vec::new(),
            requests: Vec::new(),
            calls: BTreeSet::new(),
            samples: Vec::new(),
        }
    }

    fn link(&self) -> Link<'_> {
        Link {
            base: &self.base,
            branch: self.branch,
            credentials: &self.credentials,
            token: Some(&self.token),
            callback_hosts: &self.callback_hosts,
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
        let home = OrderOwner {
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
        assert!(self.platform.wants(call, order, &self.credentials), "{name}");
        let request = self.write(call, order, reason).unwrap();
        let kind = self.kind_of_call(call, order, &request);
        self.calls.insert(kind);
        self.add(name, request);
    }

    fn write(&self, call: CallKind, order: &Order, reason: Option<&str>) -> Option<HttpRequest> {
        let reason = reason.map(|id| Reason {
            id: id.to_owned(),
            name: "Ürün kalmadı".to_owned(),
        });
        let call_request = CallRequest {
            call,
            order,
            reason: reason.as_ref(),
            note: reason.as_ref().map(|_| "Lahmacun bitti"),
            preparation_minutes: Some(25),
            now: now(),
        };
        self.platform.write(&call_request, &self.link()).ok()
    }

    /// What is called for which step, without the order's id.
    fn kind_of_call(&self, call: CallKind, order: &Order, request: &HttpRequest) -> String {
        let path = request.url.strip_prefix(&self.base).unwrap_or(&request.url);
        let path = path
            .replace(&order.identity, "ID")
            .replace(&order.provider_order_id, "ID");
        format!("{} {} {path}", call.as_text(), request.method)
    }

    /// The kinds of calls that the platform expects for an order in any status.
    fn wanted(&self) -> BTreeSet<String> {
        // A new kind of call belongs into the list below.
        match VERIFY {
            CallKind::Verify | CallKind::Ready | CallKind::Cancel | CallKind::Tell(_) => {}
        }
        let calls = || {
            [VERIFY, READY, CANCEL]
                .into_iter()
                .chain(Status::ALL.map(CallKind::Tell))
        };
        let mut wanted = BTreeSet::new();
        for &(kind, ref body) in &self.samples {
            for status in Status::ALL {
                let order = self.order(kind, body, status);
                for call in calls().filter(|call| self.platform.wants(*call, &order, &self.credentials)) {
                    let request = self.write(call, &order, Some("621"));
                    wanted.extend(request.map(|request| self.kind_of_call(call, &order, &request)));
                }
            }
        }
        wanted
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

    /// Everything that the platform can be asked or told is among the requests.
    pub fn is_complete(&self) {
        let provider = self.platform.provider();
        let wanted = self.wanted();
        assert!(!wanted.is_empty(), "{provider}");
        let missing: Vec<_> = wanted.difference(&self.calls).collect();
        assert!(missing.is_empty(), "{provider} has no recording of {missing:#?}");
        let capability = self.platform.capability();
        for (name, is_there) in [
            ("login", self.platform.login(&self.link()).unwrap().is_some()),
            ("enlist", self.platform.enlist(&self.link()).unwrap().is_some()),
            ("look", capability.look),
            ("reasons", capability.live_reasons),
            ("poll-0", capability.polling.is_some()),
            ("menu-0", capability.menu),
        ] {
            let is_recorded = self.requests.iter().any(|(known, _)| known == name);
            assert_eq!(is_recorded, is_there, "{provider} {name}");
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

pub fn getir(base: &str) -> Side {
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
    side.samples = vec![
        ("new-order", carried(1)),
        ("new-order", carried(2)),
        ("new-order", SCHEDULED.to_owned()),
    ];
    side
}

pub fn migros(base: &str) -> Side {
    const KEY: (&str, &str) = ("apiKey", "restaurant-key-1");
    const SECRET: (&str, &str) = ("secretKey", "0123456789abcdef0123456789ABCDEF");
    let mut side = Side::new("migros", base, "20417", &[KEY, SECRET]);
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
    // The other way from the secret to the key.
    let derivation = ("keyDerivation", "sha256");
    let mut hashed = Side::new("migros", base, "20417", &[KEY, SECRET, derivation]);
    hashed.call("approved-sha256", VERIFY, &new, None);
    side.requests.append(&mut hashed.requests);
    const THEIRS: &str = fixture!("migros/fixtures/order-created.json");
    side.samples = [OWN, THEIRS]
        .map(|body| ("order-created", body.to_owned()))
        .to_vec();
    side
}

pub fn trendyol(base: &str) -> Side {
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
    side.samples = [
        OWN,
        fixture!("trendyol/fixtures/created_platform_courier.json"),
        fixture!("trendyol/fixtures/created_pickup.json"),
        fixture!("trendyol/fixtures/package_uber.json"),
    ]
    .map(|body| ("created", body.to_owned()))
    .to_vec();
    side
}

pub fn yemeksepeti(base: &str) -> Side {
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
    side.samples = [
        OWN,
        RIDER,
        fixture!("yemeksepeti/fixtures/order-pickup-later.json"),
        fixture!("yemeksepeti/fixtures/order-least.json"),
    ]
    .map(|body| ("order", body.to_owned()))
    .to_vec();
    // An order that names addresses on another host, which the operator allows.
    let elsewhere = base.replace(HERE, ELSEWHERE);
    let order = OWN.replace("https://middleware.example/base", &elsewhere);
    let order = side.order("order", &order, Status::New);
    side.callback_hosts = vec![elsewhere.replace("http://", "")];
    let request = side.write(VERIFY, &order, None).unwrap();
    assert!(request.url.starts_with(&elsewhere), "{}", request.url);
    side.add("accepted-on-allowed-host", request);
    side
}

pub fn direct(base: &str) -> Side {
    let url = format!("{base}/status?shop=1");
    let mut side = Side::new(
        "direct",
        base,
        "shop-1",
        &[("inboundKey", "shop-key-1"), ("callbackUrl", &url)],
    );
    const ORDER: &str = fixture!("direct/fixtures/order.json");
    side.samples = vec![("order", ORDER.to_owned())];
    let order = side.order("order", ORDER, Status::New);
    side.questions(0, &[]);
    for status in Status::ALL {
        let name = format!("callback-{}", status.name());
        side.call(&name, CallKind::Tell(status), &order, None);
    }
    side
}
