//! The thread that sends and receives notifications, and reconnects when the connection is lost.

use super::listener::Listener;
use super::message::{NodeMessage, payloads};
use super::notifier::{CAPACITY, Outbox};
use crate::engine::connect::Hosts;
use crate::error::StoreError;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task;
use tokio::time::{sleep, timeout};
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client};

/// The least time between two notifications, however many commits there are.
const MIN_INTERVAL: Duration = Duration::from_millis(5);
/// A connection that does not reply within this time is closed.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);
/// The backoff between attempts to reconnect.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How long the end of the engine waits for the last notification.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The thread. Dropping it waits for its end, which comes when its notifier is dropped.
#[derive(Debug)]
pub struct NotifyWorker(Option<JoinHandle<()>>);

impl NotifyWorker {
    pub fn start(hosts: Hosts, outbox: Outbox, listener: Listener) -> Result<Self, StoreError> {
        let failed =
            |error: std::io::Error| StoreError::unavailable("cannot start a thread").caused_by(error);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let Outbox { queue, closed } = outbox;
        let sender = Sender {
            hosts: Arc::new(hosts),
            queue,
            listener: Arc::new(listener),
            pending: BTreeSet::new(),
        };
        let thread = std::thread::Builder::new()
            .name("garson-notify".to_owned())
            .spawn(move || run(&runtime, sender, closed))
            .map_err(failed)?;
        Ok(Self(Some(thread)))
    }
}

impl Drop for NotifyWorker {
    fn drop(&mut self) {
        if self.0.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the notification thread panicked");
        }
    }
}

fn run(runtime: &Runtime, sender: Sender, closed: oneshot::Receiver<()>) {
    runtime.block_on(async {
        let shutdown = async {
            // Nothing is ever sent: it resolves when the notifier is dropped.
            let _ = closed.await;
            sleep(SHUTDOWN_TIMEOUT).await;
        };
        tokio::select! {
            () = sender.work() => {}
            () = shutdown => {}
        }
    });
}

/// Sends the queued messages.
struct Sender {
    hosts: Arc<Hosts>,
    queue: mpsc::Receiver<Vec<NodeMessage>>,
    listener: Arc<Listener>,
    /// What is to be sent next, without duplicates.
    pending: BTreeSet<NodeMessage>,
}

/// A connection that sends, and the task that receives on it.
struct Connected {
    client: Client,
    receiving: task::JoinHandle<Option<tokio_postgres::Error>>,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.receiving.abort();
    }
}

impl Sender {
    async fn work(mut self) {
        let mut pause = FIRST_PAUSE;
        let mut wait = Duration::ZERO;
        loop {
            let (hosts, listener) = (Arc::clone(&self.hosts), Arc::clone(&self.listener));
            let connecting = async move {
                sleep(wait).await;
                connect(&hosts, listener).await.map_err(|error| error.to_string())
            };
            let Some(connected) = self.collect_during(connecting).await else {
                return;
            };
            let lost = match connected {
                Err(error) => error,
                Ok(mut connected) => {
                    pause = FIRST_PAUSE;
                    match self.send_on(&mut connected).await {
                        None => return,
                        Some(error) => error,
                    }
                }
            };
            tracing::warn!(
                error = lost,
                "notifications of other nodes are interrupted, reconnecting"
            );
            pause = (pause * 2).min(LONGEST_PAUSE);
            wait = pause;
        }
    }

    /// Does some work while messages are collected; nothing when there will be no more messages, and none is pending.
    async fn collect_during<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = std::pin::pin!(work);
        let mut is_open = true;
        loop {
            tokio::select! {
                done = &mut work => return Some(done),
                messages = self.queue.recv(), if is_open => match messages {
                    Some(messages) => self.collect(messages),
                    None if self.pending.is_empty() => return None,
                    None => is_open = false,
                },
            }
        }
    }

    fn collect(&mut self, messages: Vec<NodeMessage>) {
        if self.pending.len() < CAPACITY {
            self.pending.extend(messages);
        }
    }

    /// Sends until the connection is lost, and returns why; nothing when there will be no more messages.
    async fn send_on(&mut self, connected: &mut Connected) -> Option<String> {
        self.pending.insert(NodeMessage::NodeJoined);
        loop {
            while let Ok(messages) = self.queue.try_recv() {
                self.collect(messages);
            }
            if !self.pending.is_empty() {
                let messages = std::mem::take(&mut self.pending);
                for payload in payloads(self.listener.sender(), messages) {
                    match timeout(REPLY_TIMEOUT, notify(&connected.client, &payload)).await {
                        Ok(Ok(())) => {}
                        Ok(Err(error)) => return Some(StoreError::from(error).to_string()),
                        Err(_) => return Some(StoreError::timed_out().to_string()),
                    }
                }
                // What is queued meanwhile becomes one notification.
                if !self.queue.is_closed() {
                    sleep(MIN_INTERVAL).await;
                }
            }
            tokio::select! {
                messages = self.queue.recv() => self.collect(messages?),
                ended = &mut connected.receiving => {
                    let error = ended.ok().flatten().map(|error| StoreError::from(error).to_string());
                    return Some(error.unwrap_or_else(|| "the connection was closed".to_owned()));
                }
            }
        }
    }
}

async fn connect(hosts: &Hosts, listener: Arc<Listener>) -> Result<Connected, StoreError> {
    let (client, mut connection, _) = hosts.connect().await?;
    let receiving = tokio::spawn(async move {
        loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(AsyncMessage::Notification(received))) => listener.receive(received.payload()),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Some(error),
                None => return None,
            }
        }
    });
    let connected = Connected { client, receiving };
    // A notification need not be durable.
    let listen = connected
        .client
        .batch_execute("SET synchronous_commit TO off; LISTEN garson");
    timeout(REPLY_TIMEOUT, listen)
        .await
        .map_err(|_| StoreError::timed_out())??;
    Ok(connected)
}

async fn notify(client: &Client, payload: &str) -> Result<(), tokio_postgres::Error> {
    client
        .execute_typed("SELECT pg_notify('garson', $1)", &[(&payload, Type::TEXT)])
        .await
        .map(drop)
}
