//! A platform where nothing happens: it answers every question for orders with none, and counts.

use crate::error::Fallible;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::TcpListener;

pub const ROLE: &str = "platform";

#[derive(Default)]
struct Counter(AtomicU64);

/// Answers until it is ended.
pub fn run() -> Fallible<()> {
    let routes = Router::new()
        .route(
            "/count",
            get(async |State(asked): State<Arc<Counter>>| asked.0.load(Ordering::Relaxed).to_string()),
        )
        .fallback(async |State(asked): State<Arc<Counter>>, uri: http::Uri| {
            let number = asked.0.fetch_add(1, Ordering::Relaxed);
            let body = match uri.path() {
                // Limits are counted for each token, so every integration gets its own.
                "/getir/auth/login" => format!(r#"{{"restaurantId":"64b7f0c2","token":"{number}"}}"#),
                path if path.starts_with("/trendyol") => {
                    r#"{"page":0,"size":50,"totalPages":0,"totalCount":0,"content":[]}"#.to_owned()
                }
                path if path.starts_with("/migros") => {
                    r#"{"success":true,"data":[],"errorMessage":null}"#.to_owned()
                }
                "/getir/restaurants" => r#"{"id":"64b7f0c2","status":100}"#.to_owned(),
                path if path.starts_with("/getir/restaurants") => r#"{"result":true}"#.to_owned(),
                _ => "[]".to_owned(),
            };
            ([("content-type", "application/json")], body)
        })
        .with_state(Arc::new(Counter::default()));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("listens on http://{}", listener.local_addr()?);
        axum::serve(listener, routes).await?;
        Ok(())
    })
}
