//! A platform whose stores have many items. It remembers which are switched off, counts the requests that do it, and refuses those
//! beyond its limit.

use crate::error::Fallible;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use http::{Method, StatusCode, Uri};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

pub const ROLE: &str = "item-platform";
/// How many items each store has.
pub const ITEMS_VARIABLE: &str = "BENCH_ITEMS";
/// So many requests of a supplier in so much time, as Trendyol has it.
const LIMIT: (usize, Duration) = (50, Duration::from_secs(10));

/// The requests that switch items.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub struct Report {
    /// Items that were switched off.
    pub done: u64,
    /// Requests for items that were off already.
    pub again: u64,
    /// Requests beyond the limit.
    pub refused: u64,
}

#[derive(Default)]
struct Supplier {
    off: HashSet<String>,
    sent: VecDeque<Instant>,
}

struct Stores {
    items: usize,
    suppliers: HashMap<String, Supplier>,
    report: Report,
}

type Shared = Arc<Mutex<Stores>>;

impl Stores {
    fn answer(&mut self, method: &Method, path: &str) -> (StatusCode, String) {
        let parts: Vec<&str> = path.split('/').collect();
        let [_, _, "integrator", _, "meal", "suppliers", supplier, rest @ ..] = parts.as_slice() else {
            return (StatusCode::NOT_FOUND, String::new());
        };
        match (method, rest) {
            (&Method::GET, ["stores", _, "products"]) => (StatusCode::OK, self.menu(supplier)),
            (&Method::PUT, ["stores", _, "products", item, "status"]) => self.switch_off(supplier, item),
            _ => (StatusCode::NOT_FOUND, String::new()),
        }
    }

    fn menu(&self, supplier: &str) -> String {
        let off = self.suppliers.get(supplier).map(|supplier| &supplier.off);
        let is_off = |id: &str| off.is_some_and(|off| off.contains(id));
        let product = |id: usize| {
            let status = if is_off(&id.to_string()) {
                "PASSIVE"
            } else {
                "ACTIVE"
            };
            json!({
                "id": id, "name": format!("Item {id}"), "sellingPrice": 100, "originalPrice": 100,
                "ownSellable": true, "status": status, "ingredients": [], "extraIngredients": [], "modifierGroups": [],
            })
        };
        let place = |id: usize| json!({ "id": id, "position": id });
        let section = json!({
            "id": 1, "name": "All", "position": 1, "status": "ACTIVE",
            "products": (1..=self.items).map(place).collect::<Vec<_>>(),
        });
        json!({
            "sections": [section], "products": (1..=self.items).map(product).collect::<Vec<_>>(),
            "ingredients": [], "modifierGroups": [],
        })
        .to_string()
    }

    fn switch_off(&mut self, supplier: &str, item: &str) -> (StatusCode, String) {
        let supplier = self.suppliers.entry(supplier.to_owned()).or_default();
        let (most, period) = LIMIT;
        let now = Instant::now();
        while supplier.sent.front().is_some_and(|at| *at + period <= now) {
            supplier.sent.pop_front();
        }
        if supplier.sent.len() >= most {
            self.report.refused += 1;
            return (StatusCode::TOO_MANY_REQUESTS, String::new());
        }
        supplier.sent.push_back(now);
        if supplier.off.insert(item.to_owned()) {
            self.report.done += 1;
        } else {
            self.report.again += 1;
        }
        (StatusCode::OK, String::new())
    }
}

/// Answers until it is ended.
pub fn run() -> Fallible<()> {
    let stores: Shared = Arc::new(Mutex::new(Stores {
        items: std::env::var(ITEMS_VARIABLE)?.parse()?,
        suppliers: HashMap::new(),
        report: Report::default(),
    }));
    let routes = Router::new()
        .route(
            "/report",
            get(async |State(stores): State<Shared>| {
                let report = stores.lock().unwrap_or_else(PoisonError::into_inner).report;
                serde_json::to_string(&report).unwrap_or_default()
            }),
        )
        .fallback(async |State(stores): State<Shared>, method: Method, uri: Uri| {
            let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
            let (status, body) = stores.answer(&method, uri.path());
            (status, [("content-type", "application/json")], body)
        })
        .with_state(stores);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("listens on http://{}", listener.local_addr()?);
        axum::serve(listener, routes).await?;
        Ok(())
    })
}
