//! One platform of which every request is recorded.

use garson_core::explanation::PlatformTask;
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

pub const VERIFY: CallKind = CallKind::Verify;
pub const READY: CallKind = CallKind::Ready;
pub const CANCEL: CallKind = CallKind::Cancel;

/// One platform, one branch of it, and the requests that are made there.
pub struct Side {
    pub platform: &'static dyn Platform,
    pub base: String,
    branch: &'static str,
    pub credentials: Credentials,
    token: Secret<String>,
    pub callback_hosts: Vec<String>,
    pub requests: Vec<(String, HttpRequest)>,
    /// The kinds of calls among the requests.
    calls: BTreeSet<String>,
    /// What was done besides orders.
    pub tasks: Vec<PlatformTask>,
    /// Messages of orders that the platform treats differently.
    pub samples: Vec<(&'static str, String)>,
}

impl Side {
    pub fn new(key: &str, base: &str, branch: &'static str, credentials: &[(&str, &str)]) -> Self {
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
            tasks: Vec::new(),
            samples: Vec::new(),
        }
    }

    pub fn link(&self) -> Link<'_> {
        Link {
            base: &self.base,
            branch: self.branch,
            credentials: &self.credentials,
            token: Some(&self.token),
            callback_hosts: &self.callback_hosts,
        }
    }

    /// The order in a message of that kind, at that status.
    pub fn order(&self, kind: &'static str, body: &str, status: Status) -> Order {
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

    pub fn call(&mut self, name: &str, call: CallKind, order: &Order, reason: Option<&str>) {
        assert!(self.platform.wants(call, order, &self.credentials), "{name}");
        let request = self.write(call, order, reason).unwrap();
        let kind = self.kind_of_call(call, order, &request);
        self.calls.insert(kind);
        self.add(name, request);
    }

    pub fn write(&self, call: CallKind, order: &Order, reason: Option<&str>) -> Option<HttpRequest> {
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

    pub fn add(&mut self, name: &str, request: HttpRequest) {
        self.requests.push((name.to_owned(), request));
    }

    /// What is asked without an order in mind: sessions, lists, and the menu, with the answers that lead to it.
    pub fn questions(&mut self, pages: u32, menu: &[&str]) {
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
    pub fn look(&mut self, order: &Order) {
        let request = self.platform.look(order, &self.link()).unwrap();
        self.add("look", request);
        if self.platform.capability().live_reasons {
            let request = self.platform.reasons(order, &self.link()).unwrap();
            self.add("reasons", request);
        }
    }
}

pub fn now() -> Timestamp {
    "2026-03-01T15:25:00Z".parse().unwrap()
}
