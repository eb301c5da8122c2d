//! What every case stands on: a running service on a fresh database, clients, shops and receivers.

mod answer;
pub mod axe;
mod backlog;
mod browser;
mod certificates;
mod derived;
mod driver;
mod home;
mod house;
mod http;
mod instant;
mod ledger;
mod occupied;
mod page;
mod program;
mod receiver;
mod relay;
mod scrape;
mod server;
mod shop;
mod stream;
mod street;
mod town;
mod visitor;

pub use answer::{Answer, Gate, gzip_bomb};
pub use backlog::write_failed;
pub use browser::{Browser, ENTER, Scheme, Screen, TAB};
pub use certificates::{Authority, self_signed};
pub use home::{Home, Kind, on_postgres};
pub use house::House;
pub use http::{Caller, Reply, raw, request, send};
pub use instant::StealAwareInstant;
pub use ledger::Ledger;
pub use occupied::Occupied;
pub use page::Page;
pub use program::{Outcome, Program, command, command_after, run as program_run, run_command};
pub use receiver::{Receiver, Seen};
pub use relay::{Mode, Relay, url_through};
pub use scrape::Scrape;
pub use server::Server;
pub use shop::{Shop, order_body};
pub use stream::{EventStream, Told};
pub use street::{Meal, Street};
pub use town::{Town, credentials, quick, quiet, remote_id, store};
pub use visitor::{PASSWORD, Visitor};

use std::future::Future;
use std::time::Duration;

/// No case takes this long unless something hangs.
const PATIENCE: Duration = Duration::from_secs(150);
/// A condition that is not true by then does not become true.
const WAIT: Duration = Duration::from_secs(60);

/// How long a database may take to answer where a case is not about that: a machine may be slow.
const ANSWER_SECONDS: u32 = 30;

/// Runs a case on a fresh service, and fails instead of hanging.
pub fn run(kind: Kind, case: impl AsyncFnOnce(House)) {
    block_on(async {
        let house = House::open(kind).await;
        case(house).await;
    });
}

/// Runs something asynchronous to its end, which must come in time.
pub fn block_on<F: Future<Output = ()>>(work: F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::select! {
            () = work => {}
            () = expired(PATIENCE) => panic!("took too long"),
        }
    });
    // Nothing that a case left running may keep the test alive.
    runtime.shutdown_timeout(Duration::from_secs(5));
}

/// Ends after this time; see [`StealAwareInstant`].
async fn expired(limit: Duration) {
    let start = StealAwareInstant::now();
    while start.elapsed() < limit {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Waits for a condition, and fails if it does not come true.
pub async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let start = StealAwareInstant::now();
    while !condition().await {
        assert!(start.elapsed() < WAIT, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
