//! A small HTTP server that records requests and sends canned responses.

use super::canned_response::{CannedResponse, Stream, give};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_rustls::TlsAcceptor;

/// A request that was received.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// The number of reads; the request of a slow sender takes many.
    pub pieces: usize,
    pub at: Instant,
    /// The status of its response, if it gets one.
    pub answered: Option<u16>,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap()
    }
}

/// Chooses the response to a request.
type Responder = Arc<dyn Fn(&ReceivedRequest) -> CannedResponse + Send + Sync>;

#[derive(Default)]
struct Recording {
    seen: Vec<ReceivedRequest>,
    connections: usize,
    /// Peers whose connections are being served.
    served: BTreeSet<SocketAddr>,
    /// Requests in progress, by number, and their maximum.
    open: BTreeMap<usize, Line>,
    most_open: usize,
    answers: VecDeque<CannedResponse>,
    usual: Option<CannedResponse>,
    responder: Option<Responder>,
    keeps_connections: bool,
}

impl Recording {
    /// Requests in progress whose client is still connected.
    fn count_open(&self) -> usize {
        self.open.values().filter(|line| !has_hung_up(line)).count()
    }
}

/// A connection, for inspection while another task reads from it.
type Line = Arc<std::net::TcpStream>;

/// Whether the client has closed the connection. The task that serves it may not have noticed yet.
fn has_hung_up(line: &Line) -> bool {
    match line.peek(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

#[derive(Clone)]
pub struct Receiver {
    pub addr: SocketAddr,
    recording: Arc<Mutex<Recording>>,
    /// Closes the connections that wait for another request.
    closing: Arc<watch::Sender<()>>,
    listening: Arc<Mutex<Option<AbortHandle>>>,
}

impl Receiver {
    pub async fn start() -> Self {
        Self::start_at("127.0.0.1:0".to_owned()).await
    }

    pub async fn start_at(address: String) -> Self {
        Self::start_with(address, None).await
    }

    /// One that speaks TLS.
    pub async fn start_secure(tls: TlsAcceptor) -> Self {
        Self::start_with("127.0.0.1:0".to_owned(), Some(tls)).await
    }

    async fn start_with(address: String, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let receiver = Self {
            addr: listener.local_addr().unwrap(),
            recording: Arc::default(),
            closing: Arc::new(watch::Sender::new(())),
            listening: Arc::default(),
        };
        let inner = receiver.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                {
                    let mut recording = inner.recording.lock().unwrap();
                    recording.connections += 1;
                    recording.served.insert(peer);
                }
                let (inner, tls) = (inner.clone(), tls.clone());
                let stream = stream.into_std().unwrap();
                let line = Arc::new(stream.try_clone().unwrap());
                let stream = TcpStream::from_std(stream).unwrap();
                tokio::spawn(async move {
                    let stream: Option<Box<dyn Stream>> = match tls {
                        None => Some(Box::new(stream)),
                        Some(tls) => match tls.accept(stream).await {
                            Ok(secure) => Some(Box::new(secure)),
                            Err(_) => None,
                        },
                    };
                    if let Some(stream) = stream {
                        inner.serve(stream, &line).await;
                    }
                    inner.recording.lock().unwrap().served.remove(&peer);
                });
            }
        });
        *receiver.listening.lock().unwrap() = Some(accepting.abort_handle());
        receiver
    }

    /// Stops accepting connections; requests in progress continue.
    pub async fn stop_listening(&self) {
        if let Some(accepting) = self.listening.lock().unwrap().take() {
            accepting.abort();
        }
        super::wait_until("the receiver is gone", async || {
            TcpStream::connect(self.addr).await.is_err()
        })
        .await;
    }

    /// Keeps connections open after a response. By default they are closed.
    pub fn keeps_connections(self) -> Self {
        self.recording.lock().unwrap().keeps_connections = true;
        self
    }

    /// Closes idle connections.
    pub fn close_idle_connections(&self) {
        self.closing.send_replace(());
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    /// The response to the next request. Otherwise the default response or 200 is sent.
    pub fn next(&self, answer: CannedResponse) {
        self.recording.lock().unwrap().answers.push_back(answer);
    }

    pub fn set_default_response(&self, answer: CannedResponse) {
        self.recording.lock().unwrap().usual = Some(answer);
    }

    /// Chooses the response by the request, unless another one was set.
    pub fn respond_with(
        &self,
        responder: impl Fn(&ReceivedRequest) -> CannedResponse + Send + Sync + 'static,
    ) {
        self.recording.lock().unwrap().responder = Some(Arc::new(responder));
    }

    pub fn seen(&self) -> Vec<ReceivedRequest> {
        self.recording.lock().unwrap().seen.clone()
    }

    /// How many requests have come.
    pub fn count(&self) -> usize {
        self.recording.lock().unwrap().seen.len()
    }

    pub fn connections(&self) -> usize {
        self.recording.lock().unwrap().connections
    }

    /// Waits until everything is read that disconnected clients have sent. All clients must have disconnected.
    pub async fn is_drained(&self) {
        // Connections are accepted in order: when ours is, none is waiting before it.
        let ours = TcpStream::connect(self.addr).await.unwrap();
        let address = ours.local_addr().unwrap();
        let served = || self.recording.lock().unwrap().served.clone();
        super::wait_until("the last connection is taken", async || {
            served().contains(&address)
        })
        .await;
        drop(ours);
        super::wait_until("every connection is closed", async || served().is_empty()).await;
    }

    /// Requests that are being answered.
    pub fn open(&self) -> usize {
        self.recording.lock().unwrap().count_open()
    }

    /// Resets the maximum of concurrent requests.
    pub fn reset_most_open(&self) {
        let mut recording = self.recording.lock().unwrap();
        recording.most_open = recording.count_open();
    }

    pub fn most_open(&self) -> usize {
        self.recording.lock().unwrap().most_open
    }

    /// Waits until this many requests have arrived.
    pub async fn wait_for(&self, count: usize) -> Vec<ReceivedRequest> {
        let what = format!("{count} requests at the receiver");
        super::wait_until(&what, async || self.count() >= count).await;
        self.seen()
    }

    async fn serve(&self, mut stream: Box<dyn Stream>, line: &Line) {
        let mut closing = self.closing.subscribe();
        loop {
            let seen = tokio::select! {
                biased;
                _ = closing.changed() => None,
                seen = read(&mut stream) => seen,
            };
            let Some(seen) = seen else {
                return;
            };
            // Between the two polls above, the connection may have been told to close and a request may have been sent.
            if closing.has_changed().unwrap_or(true) {
                return;
            }
            if !self.answer(&mut stream, line, seen).await {
                return;
            }
        }
    }

    /// Answers a request; `true` when another may follow.
    async fn answer(&self, stream: &mut Box<dyn Stream>, line: &Line, seen: ReceivedRequest) -> bool {
        let (number, ordered, responder, keeps) = {
            let mut recording = self.recording.lock().unwrap();
            let number = recording.seen.len();
            recording.seen.push(seen.clone());
            recording.open.insert(number, Arc::clone(line));
            recording.most_open = recording.most_open.max(recording.count_open());
            let next = recording.answers.pop_front();
            (
                number,
                next.or(recording.usual.clone()),
                recording.responder.clone(),
                recording.keeps_connections,
            )
        };
        let answer = match (ordered, responder) {
            (Some(answer), _) => answer,
            (None, Some(responder)) => responder(&seen),
            (None, None) => CannedResponse::Status(200),
        };
        self.recording.lock().unwrap().seen[number].answered = answer.status();
        let answer = answer.awaited().await;
        let is_orderly = answer.is_orderly();
        // A client may send the next request once it has read the response; the two must not count as concurrent.
        if is_orderly {
            self.recording.lock().unwrap().open.remove(&number);
        }
        let stays = keeps && is_orderly;
        let given = give(stream, answer, stays).await;
        if !is_orderly {
            self.recording.lock().unwrap().open.remove(&number);
        }
        stays && given.is_ok()
    }
}

async fn read(stream: &mut Box<dyn Stream>) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let mut pieces = 0;
    let (head, start) = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break (String::from_utf8(bytes[..at].to_vec()).unwrap(), at + 4);
        }
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        pieces += 1;
        bytes.extend_from_slice(&buffer[..count]);
    };
    let mut lines = head.split("\r\n").map(str::to_owned);
    let line = lines.next()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        })
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while bytes.len() < start + length {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        pieces += 1;
        bytes.extend_from_slice(&buffer[..count]);
    }
    Some(ReceivedRequest {
        line,
        headers,
        body: String::from_utf8(bytes[start..start + length].to_vec()).unwrap(),
        pieces,
        at: Instant::now(),
        answered: None,
    })
}
