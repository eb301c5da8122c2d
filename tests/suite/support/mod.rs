//! What tests share: a running service on a new database, clients, shops and receivers.

pub mod axe;
mod browser;
mod busy_writer;
mod canned_response;
mod certificates;
mod derived;
mod driver;
mod failed_events;
mod http;
mod ledger;
mod openid_provider;
mod page;
mod panel_user;
mod picture;
mod platform_world;
mod postgres_template;
mod printer;
mod program;
mod receiver;
mod relay;
mod scrape;
mod server;
mod shop;
mod simulated_platforms;
mod smtp_sink;
mod steal_aware_instant;
mod storage;
mod stream;
mod test_service;
mod workbook;

pub use browser::{Browser, DOWN, ENTER, Scheme, Screen, TAB, screenshots_folder};
pub use busy_writer::BusyWriter;
pub use canned_response::{CannedResponse, Gate, gzip_bomb};
pub use certificates::{Authority, self_signed};
pub use failed_events::write_failed_events;
pub use http::{ApiClient, Reply, raw, request, send};
pub use ledger::Ledger;
pub use openid_provider::{CLIENT, CLIENT_SECRET, Person, ProviderMood, Signature, TestProvider};
pub use page::Page;
pub use panel_user::{PASSWORD, PanelUser};
pub use picture::Picture;
pub use platform_world::{PlatformWorld, credentials, disable_polling, fast_sim_settings, remote_id, store};
pub use printer::{PrintedTicket, SocketPrinter, image};
pub use program::{
    Outcome, Program, command, command_after, prepared, run as program_run, run_command, run_command_with,
    secret_file,
};
pub use receiver::{ReceivedRequest, Receiver};
pub use relay::{Mode, Relay, url_through};
pub use scrape::Scrape;
pub use server::Server;
pub use shop::{Shop, order_body};
pub use simulated_platforms::{PlatformOrder, SimulatedPlatforms};
pub use smtp_sink::{SmtpMood, SmtpSink, SmtpTls};
pub use steal_aware_instant::StealAwareInstant;
pub use storage::{Backend, TestStorage, on_postgres};
pub use stream::{EventStream, StreamEvent};
pub use test_service::TestService;
pub use workbook::{WorkbookCell, read_workbook};

use std::future::Future;
use std::time::Duration;

/// A case that takes longer hangs.
const CASE_TIMEOUT: Duration = Duration::from_secs(150);
/// How long to wait for a condition.
const CONDITION_TIMEOUT: Duration = Duration::from_secs(60);

/// The deadline of database jobs in cases that do not test it: the machine may be slow.
const ANSWER_SECONDS: u32 = 30;

/// Runs a case on a new service, with a timeout.
pub fn run(backend: Backend, case: impl AsyncFnOnce(TestService)) {
    block_on(async {
        let service = TestService::open(backend).await;
        case(service).await;
    });
}

/// Runs a future to its end, with a timeout.
pub fn block_on<F: Future<Output = ()>>(work: F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::select! {
            () = work => {}
            () = expired(CASE_TIMEOUT) => panic!("took too long"),
        }
    });
    // Tasks that a case left running must not keep the test alive.
    runtime.shutdown_timeout(Duration::from_secs(5));
}

/// Ends after this time; see [`StealAwareInstant`].
async fn expired(limit: Duration) {
    let start = StealAwareInstant::now();
    while start.elapsed() < limit {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Waits for a condition; fails after a timeout.
pub async fn wait_until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let start = StealAwareInstant::now();
    while !condition().await {
        assert!(
            start.elapsed() < CONDITION_TIMEOUT,
            "timed out waiting for: {what}"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
