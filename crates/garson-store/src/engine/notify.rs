//! The bell between nodes: after a commit, the others hear which accounts have news.
//!
//! It is a hint and never the truth: whoever hears it looks into the database, and what is not heard is found by looking,
//! a second later. So it stands outside of every transaction, on a connection of its own, and what waits while one ring
//! is on its way is the next ring.

use super::{Desk, Handover, News, silent};
use crate::engine::connect::Hosts;
use crate::error::StoreError;
use garson_core::id::{AccountId, IntegrationId, NodeId};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task;
use tokio::time::{sleep, timeout};
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client};
use uuid::Uuid;

/// Commits that may wait to be rung; those that find no room are found by looking.
const ROOM: usize = 4096;
/// PostgreSQL takes less than 8000 bytes with a notification.
const MAX_PAYLOAD: usize = 7_900;
/// Rings follow each other no faster than this, however many commits there are.
const BETWEEN_RINGS: Duration = Duration::from_millis(5);
/// A connection on which nothing comes of a ring is given up.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pauses before connecting again.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How long the end of the engine waits for the last ring.
const FAREWELL: Duration = Duration::from_secs(1);

/// What other nodes are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// A process has begun to work on this database.
    Here,
    /// A node has left, or was given up: what it did is free.
    NodeGone,
    /// Whoever polls an integration is to do so now: something has happened on its platform.
    Poll { integration: IntegrationId },
    /// Those who wait for news of an account are to look, though there is none.
    Stir { account: AccountId },
    /// Whoever delivers for an account is to look again; see [`Handover::LookAgain`].
    LookAgain {
        account: AccountId,
        /// The node that delivers for the account.
        owner: Option<NodeId>,
    },
    /// An account has come to this place.
    Places {
        account: AccountId,
        owner: Option<NodeId>,
        last: i64,
    },
}

impl Word {
    fn write(self, text: &mut String) {
        let node = |owner: Option<NodeId>| owner.map_or(Uuid::nil(), |node| node.0).simple();
        // Writing into a string cannot fail.
        let _written = match self {
            Self::Here => write!(text, " h"),
            Self::NodeGone => write!(text, " g"),
            Self::Poll { integration } => write!(text, " i{}", integration.0.simple()),
            Self::Stir { account } => write!(text, " s{}", account.0.simple()),
            Self::LookAgain { account, owner } => {
                write!(text, " l{}{}", account.0.simple(), node(owner))
            }
            Self::Places { account, owner, last } => {
                write!(text, " p{}{}{last:x}", account.0.simple(), node(owner))
            }
        };
    }

    /// Is this a later place of the same account?
    fn says_more_than(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (
                Self::Places { account, owner, .. },
                Self::Places {
                    account: a, owner: o, ..
                },
            ) => (account, owner) == (a, o),
            _ => false,
        }
    }

    /// A word that another version of this program may have written; nothing when it is not understood.
    fn read(text: &str) -> Option<Self> {
        let id = |from: usize| Uuid::try_parse(text.get(from..from + 32)?).ok();
        let account = || id(1).map(AccountId);
        // A nil id stands for nobody.
        let owner = || Some(Some(id(33)?).filter(|id| !id.is_nil()).map(NodeId));
        match text.get(..1)? {
            "h" => Some(Self::Here),
            "g" => Some(Self::NodeGone),
            "i" => Some(Self::Poll {
                integration: IntegrationId(id(1)?),
            }),
            "s" => Some(Self::Stir { account: account()? }),
            "l" => Some(Self::LookAgain {
                account: account()?,
                owner: owner()?,
            }),
            "p" => Some(Self::Places {
                account: account()?,
                owner: owner()?,
                last: i64::from_str_radix(text.get(65..)?, 16).ok()?,
            }),
            _ => None,
        }
    }
}

/// The end of the rope: where commits leave what others are to hear.
#[derive(Debug, Default)]
pub struct Ringer {
    queue: Option<mpsc::Sender<Vec<Word>>>,
    is_alone: Arc<AtomicBool>,
    /// Dropped with the ringer: nothing more will be rung.
    _open: Option<oneshot::Sender<()>>,
}

impl Ringer {
    /// Rings, unless there is nobody else to hear it.
    pub fn ring(&self, words: Vec<Word>) {
        if words.is_empty() || self.is_alone.load(Ordering::Relaxed) {
            return;
        }
        if let Some(queue) = &self.queue {
            // One for which there is no room costs those who should have heard it a second.
            drop(queue.try_send(words));
        }
    }

    /// Is this the only node? It need not ring then, until it hears of another one.
    pub fn set_alone(&self, is_alone: bool) {
        self.is_alone.store(is_alone, Ordering::Relaxed);
    }
}

/// What the bell's thread works with.
pub struct Belfry {
    queue: mpsc::Receiver<Vec<Word>>,
    closed: oneshot::Receiver<()>,
    is_alone: Arc<AtomicBool>,
}

/// A ringer and what its thread works with.
pub fn hang() -> (Ringer, Belfry) {
    let (rope, queue) = mpsc::channel(ROOM);
    let (open, closed) = oneshot::channel();
    let is_alone = Arc::<AtomicBool>::default();
    let ringer = Ringer {
        queue: Some(rope),
        is_alone: Arc::clone(&is_alone),
        _open: Some(open),
    };
    let belfry = Belfry {
        queue,
        closed,
        is_alone,
    };
    (ringer, belfry)
}

/// The bell's thread. Dropping it waits for its end, which comes when its ringer is dropped.
#[derive(Debug)]
pub struct Bell(Option<JoinHandle<()>>);

impl Bell {
    pub fn start(hosts: Hosts, belfry: Belfry, news: Arc<News>, desk: Arc<Desk>) -> Result<Self, StoreError> {
        let cannot =
            |error: std::io::Error| StoreError::unavailable(format!("cannot start a thread: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(cannot)?;
        let Belfry {
            queue,
            closed,
            is_alone,
        } = belfry;
        let sender = Uuid::now_v7();
        let attendant = Attendant {
            hosts: Arc::new(hosts),
            queue,
            sender,
            ears: Arc::new(Ears {
                sender,
                is_alone,
                news,
                desk,
            }),
            waiting: BTreeSet::new(),
        };
        let thread = std::thread::Builder::new()
            .name("garson-bell".to_owned())
            .spawn(move || attend(&runtime, attendant, closed))
            .map_err(cannot)?;
        Ok(Self(Some(thread)))
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        if self.0.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of the bell panicked");
        }
    }
}

fn attend(runtime: &Runtime, attendant: Attendant, closed: oneshot::Receiver<()>) {
    runtime.block_on(async {
        let farewell = async {
            // Nobody ever sends anything here: it ends when the ringer is dropped.
            drop(closed.await);
            sleep(FAREWELL).await;
        };
        tokio::select! {
            () = attendant.work() => {}
            () = farewell => {}
        }
    });
}

/// Who rings, and connects again when the connection is lost.
struct Attendant {
    hosts: Arc<Hosts>,
    queue: mpsc::Receiver<Vec<Word>>,
    sender: Uuid,
    ears: Arc<Ears>,
    /// What is to be rung next; the same is said once.
    waiting: BTreeSet<Word>,
}

/// A connection that rings, and the task that hears what comes over it.
struct Line {
    client: Client,
    hearing: task::JoinHandle<Option<tokio_postgres::Error>>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.hearing.abort();
    }
}

impl Attendant {
    async fn work(mut self) {
        let mut pause = FIRST_PAUSE;
        let mut is_first = true;
        loop {
            let (hosts, ears) = (Arc::clone(&self.hosts), Arc::clone(&self.ears));
            let wait = if is_first { Duration::ZERO } else { pause };
            is_first = false;
            let connecting = async move {
                sleep(wait).await;
                connect(&hosts, ears).await.map_err(|error| error.to_string())
            };
            let Some(connected) = self.meanwhile(connecting).await else {
                return;
            };
            let lost = match connected {
                Err(error) => error,
                Ok(mut line) => {
                    pause = FIRST_PAUSE;
                    match self.ring_on(&mut line).await {
                        None => return,
                        Some(error) => error,
                    }
                }
            };
            tracing::warn!(error = lost, "other nodes are not heard, connecting again");
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Does something while more to be rung is collected; nothing when there will be no more, and none waits.
    async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = std::pin::pin!(work);
        let mut is_open = true;
        loop {
            tokio::select! {
                done = &mut work => return Some(done),
                words = self.queue.recv(), if is_open => match words {
                    Some(words) => self.collect(words),
                    None if self.waiting.is_empty() => return None,
                    None => is_open = false,
                },
            }
        }
    }

    fn collect(&mut self, words: Vec<Word>) {
        if self.waiting.len() < ROOM {
            self.waiting.extend(words);
        }
    }

    /// Rings until the line is lost, and says why; nothing when there will be nothing more to ring.
    async fn ring_on(&mut self, line: &mut Line) -> Option<String> {
        self.waiting.insert(Word::Here);
        loop {
            while let Ok(words) = self.queue.try_recv() {
                self.collect(words);
            }
            if !self.waiting.is_empty() {
                let words = std::mem::take(&mut self.waiting);
                for payload in payloads(self.sender, words) {
                    match timeout(PATIENCE, ring(&line.client, &payload)).await {
                        Ok(Ok(())) => {}
                        Ok(Err(error)) => return Some(StoreError::from(error).to_string()),
                        Err(_) => return Some(silent().to_string()),
                    }
                }
                // What comes meanwhile is one ring.
                if !self.queue.is_closed() {
                    sleep(BETWEEN_RINGS).await;
                }
            }
            tokio::select! {
                words = self.queue.recv() => self.collect(words?),
                ended = &mut line.hearing => {
                    let error = ended.ok().flatten().map(|error| StoreError::from(error).to_string());
                    return Some(error.unwrap_or_else(|| "the connection was closed".to_owned()));
                }
            }
        }
    }
}

async fn connect(hosts: &Hosts, ears: Arc<Ears>) -> Result<Line, StoreError> {
    let (client, mut connection, _) = hosts.connect().await?;
    let hearing = tokio::spawn(async move {
        loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(AsyncMessage::Notification(rung))) => ears.hear(rung.payload()),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Some(error),
                None => return None,
            }
        }
    });
    let line = Line { client, hearing };
    // A ring is not worth waiting for the disk.
    let listen = line
        .client
        .batch_execute("SET synchronous_commit TO off; LISTEN garson");
    timeout(PATIENCE, listen).await.map_err(|_| silent())??;
    Ok(line)
}

async fn ring(client: &Client, payload: &str) -> Result<(), tokio_postgres::Error> {
    client
        .execute_typed("SELECT pg_notify('garson', $1)", &[(&payload, Type::TEXT)])
        .await
        .map(drop)
}

/// The words as notifications, each with its sender in front.
fn payloads(sender: Uuid, words: BTreeSet<Word>) -> Vec<String> {
    let mut all = Vec::new();
    let mut payload = sender.simple().to_string();
    let (empty, mut word_text) = (payload.len(), String::new());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        if words.peek().is_some_and(|next| next.says_more_than(&word)) {
            continue;
        }
        word_text.clear();
        word.write(&mut word_text);
        if payload.len() + word_text.len() > MAX_PAYLOAD {
            all.push(payload.clone());
            payload.truncate(empty);
        }
        payload.push_str(&word_text);
    }
    all.push(payload);
    all
}

/// Who is woken by what is heard.
struct Ears {
    /// What this process has rung itself.
    sender: Uuid,
    is_alone: Arc<AtomicBool>,
    news: Arc<News>,
    desk: Arc<Desk>,
}

impl Ears {
    fn hear(&self, payload: &str) {
        let mut words = payload.split(' ');
        let sender = words.next().and_then(|sender| Uuid::try_parse(sender).ok());
        if sender.is_none_or(|sender| sender == self.sender) {
            return;
        }
        self.is_alone.store(false, Ordering::Relaxed);
        let me = self.desk.node();
        let is_mine = |owner: Option<NodeId>| owner.is_some() && owner == me;
        let (mut places, mut handed) = (Vec::new(), Vec::new());
        for word in words.filter_map(Word::read) {
            match word {
                Word::Here => {}
                Word::NodeGone => handed.push(Handover::NodeGone),
                Word::Poll { integration } => handed.push(Handover::Poll { integration }),
                Word::Stir { account } => self.news.tell(&[(account, 0)]),
                Word::LookAgain { account, owner } if is_mine(owner) => {
                    handed.push(Handover::LookAgain { account });
                }
                Word::LookAgain { .. } => {}
                Word::Places { account, owner, last } => {
                    places.push((account, last));
                    if is_mine(owner) {
                        handed.push(Handover::Elsewhere { account, last });
                    }
                }
            }
        }
        self.news.compare(&places);
        self.desk.hand_over(handed);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use garson_core::time::Timestamp;

    #[test]
    fn words_are_read_as_they_were_written() {
        let (account, node) = (
            AccountId::at(Timestamp::from_millis(7)),
            NodeId::at(Timestamp::from_millis(8)),
        );
        for word in [
            Word::Here,
            Word::NodeGone,
            Word::Poll {
                integration: IntegrationId::at(Timestamp::from_millis(9)),
            },
            Word::Stir { account },
            Word::LookAgain { account, owner: None },
            Word::LookAgain {
                account,
                owner: Some(node),
            },
            Word::Places {
                account,
                owner: Some(node),
                last: i64::MAX,
            },
            Word::Places {
                account,
                owner: None,
                last: 1,
            },
        ] {
            let mut text = String::new();
            word.write(&mut text);
            assert_eq!(Word::read(text.strip_prefix(' ').unwrap()), Some(word));
        }
        for unknown in ["", "x", "l", "p12", "ü", "lüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü"]
        {
            assert_eq!(Word::read(unknown), None);
        }
    }

    #[test]
    fn many_words_are_several_rings() {
        let words: BTreeSet<Word> = (0..1_000)
            .map(|n| Word::Places {
                account: AccountId::at(Timestamp::from_millis(n)),
                owner: Some(NodeId::at(Timestamp::from_millis(n))),
                last: i64::MAX,
            })
            .collect();
        // Earlier places of the same accounts need no words.
        let earlier = words.iter().map(|word| match *word {
            Word::Places { account, owner, .. } => Word::Places {
                account,
                owner,
                last: 1,
            },
            other => other,
        });
        let all = payloads(Uuid::now_v7(), words.iter().copied().chain(earlier).collect());
        assert!(all.iter().all(|payload| payload.len() < 8_000));
        assert!(all.len() <= 11, "{}", all.len());
        let read: BTreeSet<Word> = all
            .iter()
            .flat_map(|payload| payload.split(' ').skip(1))
            .filter_map(Word::read)
            .collect();
        assert_eq!(read, words);
    }

    #[test]
    fn only_what_others_rang_is_heard() {
        let (account, node) = (
            AccountId::at(Timestamp::from_millis(7)),
            NodeId::at(Timestamp::from_millis(8)),
        );
        let (news, desk) = (Arc::<News>::default(), Arc::<Desk>::default());
        let mut handed = desk.open();
        desk.set_node(Some(node));
        let ears = Ears {
            sender: Uuid::now_v7(),
            is_alone: Arc::new(AtomicBool::new(true)),
            news,
            desk,
        };
        let said = |sender: Uuid, owner| {
            let word = Word::Places {
                account,
                owner,
                last: 5,
            };
            payloads(sender, BTreeSet::from([word])).remove(0)
        };
        ears.hear(&said(ears.sender, Some(node)));
        assert!(ears.is_alone.load(Ordering::Relaxed) && handed.try_recv().is_err());
        // Another node delivers for it: that is no work for us.
        ears.hear(&said(Uuid::now_v7(), None));
        assert!(!ears.is_alone.load(Ordering::Relaxed) && handed.try_recv().is_err());
        ears.hear(&said(Uuid::now_v7(), Some(node)));
        assert!(matches!(
            handed.try_recv().unwrap()[..],
            [Handover::Elsewhere { last: 5, .. }]
        ));
    }
}
