//! `garson receive`: a receiver of events for developers. It shows what arrives, and misbehaves on request.

mod answer;
mod event;
mod history;
mod show;

use super::command::{CommandError, Outcome, print_line, runtime};
use super::event_key::KeyArgs;
use crate::http::connection_registry::Timeouts;
use crate::server::{Limits, serve_connections};
use answer::{Behaviour, Receiver};
use clap::Args;
use garson_core::account::AuthorizationForm;
use hyper::service::service_fn;
use show::Show;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Bounds the memory, together with the limit of a body.
const CONNECTIONS: usize = 128;

#[derive(Args)]
#[command(after_help = "\
Examples:
  garson receive --key-file key                    show every event on http://127.0.0.1:9000/
  garson receive --key-file key --fail-first 3     see what is sent again, and when
  garson receive --key-file key --delay-ms 15000   be slower than Garson waits (10 s)
  garson receive --any-key --json | jq .veri.id    work with the events themselves

Register its address with PUT /web-api/v1/webhook. Garson calls addresses like 127.0.0.1 only if it
runs with GARSON_ALLOW_PRIVATE_TARGETS=true. docs/receiving.md says how to write your own receiver.")]
pub struct ReceiveArgs {
    /// The address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9000")]
    listen: SocketAddr,
    /// The port alone, as earlier versions took it
    #[arg(long, hide = true)]
    port: Option<u16>,
    /// The address alone, as earlier versions took it
    #[arg(long, hide = true)]
    address: Option<IpAddr>,
    #[command(flatten)]
    key: KeyArgs,
    /// Accept events with any key, or without one
    #[arg(long, conflicts_with = "key_file")]
    any_key: bool,
    /// Wait this many milliseconds before each response
    #[arg(long, value_name = "N", default_value_t = 0)]
    delay_ms: u64,
    /// Answer events with this status; only 2xx counts as delivered
    #[arg(long, value_name = "CODE", default_value_t = 200,
          value_parser = clap::value_parser!(u16).range(200..=599))]
    status: u16,
    /// Fail the first N events with 500
    #[arg(long, value_name = "N", default_value_t = 0)]
    fail_first: u64,
    /// Fail about this percentage of events with 500
    #[arg(long, value_name = "P", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=100))]
    fail_percent: u8,
    /// Close the connection without a response: on events that fail, or on all if no flag selects some
    #[arg(long)]
    close: bool,
    /// Print the body of each event, one per line; everything else goes to standard error
    #[arg(long)]
    json: bool,
    /// Print the indented body of each event below its line
    #[arg(long, conflicts_with = "json")]
    full: bool,
}

pub fn run(args: &ReceiveArgs) -> Outcome {
    let key = if args.any_key { None } else { args.key.key()? };
    let show = Show::new(args.json, args.full);
    let is_open = key.is_none() && !args.any_key;
    let receiver = Receiver::new(args.behaviour(), key, args.key.authorization, show);
    runtime()?.block_on(async {
        let address = args.listens_on();
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| CommandError(format!("cannot listen on {address}: {error}")))?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        show.notice(&format!(
            "The receiver listens on http://{}",
            listener.local_addr()?
        ));
        if is_open {
            show.notice(
                "No key is given, so any is taken: --key-file FILE checks it, --any-key silences this.",
            );
        }
        let stop = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        let receiver = Arc::new(receiver);
        serve(listener, Arc::clone(&receiver), stop).await;
        show.summary(receiver.totals());
        Ok(())
    })
}

async fn serve(listener: TcpListener, receiver: Arc<Receiver>, stop: impl Future<Output = ()>) {
    let service = service_fn(move |request| {
        let receiver = Arc::clone(&receiver);
        async move { receiver.answer(request).await }
    });
    // Senders that still wait at the end, for example because of --delay, get no response.
    let limits = Limits {
        connections: CONNECTIONS,
        connections_per_address: CONNECTIONS,
        timeouts: Timeouts::default(),
        drain: Duration::from_secs(1),
        proxies: Arc::default(),
        refusals: Arc::default(),
        tls: None,
    };
    serve_connections(listener, service, limits, stop).await;
}

/// How many events the demo shows one by one.
const SHOWN_IN_DEMO: u64 = 20;
const REMINDER_PAUSE: Duration = Duration::from_secs(60);

/// Prints how many events have come and how to sign in: after the events that are shown, behind which the introduction has
/// scrolled away, and from time to time.
async fn remind(receiver: &Receiver, reminder: &str) {
    while receiver.totals().received < SHOWN_IN_DEMO {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    loop {
        let received = receiver.totals().received;
        print_line(&format!("{received} events so far. {reminder}"));
        tokio::time::sleep(REMINDER_PAUSE).await;
    }
}

/// Shows the first events that come, whatever their key, and then only their number, until it is aborted: for the demo.
pub async fn show_events(listener: TcpListener, reminder: String) {
    let behaviour = Behaviour {
        status: 200,
        ..Behaviour::default()
    };
    let receiver = Receiver::new(
        behaviour,
        None,
        AuthorizationForm::default(),
        Show::First(SHOWN_IN_DEMO),
    );
    let receiver = Arc::new(receiver);
    tokio::join!(
        serve(listener, Arc::clone(&receiver), std::future::pending()),
        remind(&receiver, &reminder)
    );
}

impl ReceiveArgs {
    fn listens_on(&self) -> SocketAddr {
        SocketAddr::new(
            self.address.unwrap_or(self.listen.ip()),
            self.port.unwrap_or(self.listen.port()),
        )
    }

    fn behaviour(&self) -> Behaviour {
        let is_choosy = self.fail_first > 0 || self.fail_percent > 0;
        Behaviour {
            status: self.status,
            delay: Duration::from_millis(self.delay_ms),
            fail_first: self.fail_first,
            fail_percent: if self.close && !is_choosy {
                100
            } else {
                self.fail_percent
            },
            closes: self.close,
        }
    }
}
