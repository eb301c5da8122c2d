//! Memory for bodies through all layers of the service, with a handler that never finishes.

use super::*;
use crate::app::App;
use crate::config::Settings;
use crate::flow::admin::accounts;
use crate::http::body_budget::MAX_BODY;
use crate::router::service_with;
use axum::Router;
use axum::routing::post;
use bytes::Bytes;
use garson_core::clock::SystemClock;
use garson_core::secret::Secret;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const TEST_DEADLINE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn waiting_requests_hold_no_memory_for_their_bodies() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::load(None, Vec::new(), Vec::new()).unwrap();
    // A busy machine would refuse some of the requests.
    settings.server.max_wait_ms = 0;
    settings.data = folder.path().to_owned();
    settings.master_key = Secret::new("7".repeat(64));
    settings.rate_limit = "off".to_owned();
    let app = App::open_with(settings, Arc::new(SystemClock), None).unwrap();
    let created = accounts::create(&app, "First".to_owned(), "first@example.com", None).await;
    let (_, key) = created.unwrap();
    let bearer = format!("Bearer {}", key.secret.expose());

    let entered = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&entered);
    let wait = move |Json(_): Json<Value>| {
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::pending::<()>()
    };
    let routes = service_with(app, Router::new().route("/web-api/v1/wait", post(wait)));
    let service = TowerToHyperService::new(routes);
    // More than the budget of all accounts together, with and without an Idempotency-Key.
    let count = 80;
    let body = Bytes::from([b"{}".to_vec(), vec![b' '; MAX_BODY - 2]].concat());
    for n in 0..count {
        let mut request = http::Request::post("/web-api/v1/wait")
            .header(header::AUTHORIZATION, &bearer)
            .header(header::CONTENT_TYPE, "application/json");
        if n % 2 == 0 {
            request = request.header("idempotency-key", n.to_string());
        }
        let request = request.body(axum::body::Body::from(body.clone())).unwrap();
        tokio::spawn(service.call(request));
    }
    let all = async {
        while entered.load(Ordering::SeqCst) < count {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(TEST_DEADLINE, all).await;
    assert!(
        waited.is_ok(),
        "only {} are handled",
        entered.load(Ordering::SeqCst)
    );
}
