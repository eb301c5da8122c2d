//! A receiver for several nodes that records arrivals and can be slow or silent.

use crate::support::{StealAwareInstant, wait_until};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A request that came.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub at: StealAwareInstant,
    pub path: String,
    pub authorization: String,
    pub body: String,
}

impl Arrival {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// `veri.id`.
    pub fn event(&self) -> String {
        self.json()["veri"]["id"].as_str().unwrap().to_owned()
    }
}

#[derive(Default)]
struct Inner {
    arrivals: Mutex<Vec<Arrival>>,
    /// Milliseconds before an answer.
    delay: AtomicU64,
    /// Paths that are not answered until the status is known.
    held: Mutex<HashMap<String, watch::Sender<Option<u16>>>>,
}

#[derive(Clone)]
pub struct Sink {
    addr: SocketAddr,
    inner: Arc<Inner>,
}

impl Sink {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let sink = Self {
            addr: listener.local_addr().unwrap(),
            inner: Arc::default(),
        };
        let inner = Arc::clone(&sink.inner);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let inner = Arc::clone(&inner);
                tokio::spawn(async move { inner.serve(stream).await });
            }
        });
        sink
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    pub fn answer_after(&self, delay: Duration) {
        let millis = u64::try_from(delay.as_millis()).unwrap();
        self.inner.delay.store(millis, Ordering::Relaxed);
    }

    /// What comes to this path from now on is not answered.
    pub fn hold(&self, path: &str) {
        let mut held = self.inner.held.lock().unwrap();
        held.insert(path.to_owned(), watch::Sender::new(None));
    }

    /// What was held is answered with that; what comes from now on, with 200.
    pub fn release(&self, path: &str, status: u16) {
        let held = self.inner.held.lock().unwrap().remove(path).unwrap();
        held.send_replace(Some(status));
    }

    /// Everything that came to a path.
    pub fn at(&self, path: &str) -> Vec<Arrival> {
        let arrivals = self.inner.arrivals.lock().unwrap();
        arrivals.iter().filter(|a| a.path == path).cloned().collect()
    }

    pub fn count(&self, path: &str) -> usize {
        let arrivals = self.inner.arrivals.lock().unwrap();
        arrivals.iter().filter(|a| a.path == path).count()
    }

    /// Waits until this many requests have arrived at a path.
    pub async fn wait_for(&self, path: &str, count: usize) -> Vec<Arrival> {
        wait_until(path, async || self.count(path) >= count).await;
        self.at(path)
    }

    /// When each event came to a path for the first time.
    pub fn first_arrivals(&self, path: &str) -> BTreeMap<String, Arrival> {
        let mut first = BTreeMap::new();
        for arrival in self.at(path) {
            first.entry(arrival.event()).or_insert(arrival);
        }
        first
    }
}

impl Inner {
    async fn serve(&self, stream: TcpStream) -> Option<()> {
        let mut stream = BufReader::new(stream);
        loop {
            let arrival = read(&mut stream).await?;
            let held = {
                let held = self.held.lock().unwrap();
                held.get(&arrival.path).map(watch::Sender::subscribe)
            };
            self.arrivals.lock().unwrap().push(arrival);
            let delay = Duration::from_millis(self.delay.load(Ordering::Relaxed));
            let status = match held {
                Some(mut held) => held.wait_for(Option::is_some).await.ok().and_then(|it| *it)?,
                None => {
                    tokio::time::sleep(delay).await;
                    200
                }
            };
            let answer = format!("HTTP/1.1 {status} Said\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.ok()?;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Arrival> {
    let (mut path, mut authorization, mut length) = (String::new(), String::new(), 0);
    loop {
        let mut line = String::new();
        let count = stream.read_line(&mut line).await.ok()?;
        let line = line.trim_end();
        if count == 0 {
            return None;
        }
        if line.is_empty() && !path.is_empty() {
            break;
        }
        if path.is_empty() {
            path = line.split(' ').nth(1)?.to_owned();
        } else if let Some((name, value)) = line.split_once(':') {
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "authorization" => authorization = value.trim().to_owned(),
                _ => {}
            }
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Arrival {
        at: StealAwareInstant::now(),
        path,
        authorization,
        body: String::from_utf8(body).ok()?,
    })
}
