//! A client of server-sent events that reads at the speed of the test.

use super::{ApiClient, Reply, request};
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Longer than anything that is waited for takes.
const CASE_TIMEOUT: Duration = Duration::from_secs(60);

/// An event as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamEvent {
    pub id: String,
    pub event: String,
    pub data: String,
}

impl StreamEvent {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }

    /// `veri.id`.
    pub fn event_id(&self) -> String {
        self.json()["veri"]["id"].as_str().unwrap().to_owned()
    }
}

/// An open stream.
pub struct EventStream {
    connection: TcpStream,
    /// Bytes that came and are not read yet, in chunks as they are on the wire.
    raw: Vec<u8>,
    text: String,
    /// How much of the text was taken.
    read: usize,
    is_over: bool,
    /// The id to come back with.
    pub last_id: String,
    pub headers: Vec<(String, String)>,
}

impl ApiClient {
    /// Opens a stream that begins now.
    pub async fn follow(&self) -> EventStream {
        self.follow_from("", &[]).await.unwrap()
    }

    /// Opens a stream after an earlier one.
    pub async fn follow_after(&self, last_id: &str) -> EventStream {
        self.follow_from("", &[("last-event-id", last_id)]).await.unwrap()
    }

    /// Opens a stream, or says how it was refused.
    pub async fn follow_from(&self, query: &str, more: &[(&str, &str)]) -> Result<EventStream, Reply> {
        let bearer = format!("Bearer {}", self.key);
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend_from_slice(more);
        EventStream::open(self.addr, &format!("/web-api/v1/events{query}"), &headers).await
    }
}

impl EventStream {
    /// Opens any stream, or says how it was refused.
    pub async fn open(addr: SocketAddr, path: &str, more: &[(&str, &str)]) -> Result<Self, Reply> {
        let mut connection = TcpStream::connect(addr).await.unwrap();
        let mut headers = vec![("accept", "text/event-stream")];
        headers.extend_from_slice(more);
        let whole = request("GET", path, &headers, &[]);
        connection.write_all(&whole).await.unwrap();
        let mut raw = Vec::new();
        let end = loop {
            if let Some(at) = raw.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            assert!(more_bytes(&mut connection, &mut raw).await, "no head");
        };
        if !raw.starts_with(b"HTTP/1.1 200") {
            while more_bytes(&mut connection, &mut raw).await {}
            return Err(Reply::parse(&raw));
        }
        let mut head = raw[..end].to_vec();
        head.extend_from_slice(b"0\r\n\r\n");
        let mut stream = Self {
            connection,
            raw: raw.split_off(end),
            text: String::new(),
            read: 0,
            is_over: false,
            last_id: String::new(),
            headers: Reply::parse(&head).headers,
        };
        // The first block has only an id: where to come back to if nothing happens.
        let first = stream.block().await.unwrap();
        assert!(first.starts_with("retry: "), "{first}");
        Ok(stream)
    }
}

async fn more_bytes(connection: &mut TcpStream, into: &mut Vec<u8>) -> bool {
    let mut buffer = [0; 16 * 1024];
    let reading = tokio::time::timeout(CASE_TIMEOUT, connection.read(&mut buffer));
    let count = reading.await.expect("nothing comes").unwrap_or(0);
    into.extend_from_slice(&buffer[..count]);
    count > 0
}

impl EventStream {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The next event; `None` when the stream has ended as it should.
    pub async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            let block = self.block().await?;
            let field = |name: &str| {
                let lines = block.lines().filter_map(|line| line.strip_prefix(name));
                lines.collect::<Vec<_>>().join("\n")
            };
            if !block.starts_with(':') {
                return Some(StreamEvent {
                    id: field("id: "),
                    event: field("event: "),
                    data: field("data: "),
                });
            }
        }
    }

    /// So many events.
    pub async fn take(&mut self, count: usize) -> Vec<StreamEvent> {
        let mut all = Vec::with_capacity(count);
        while all.len() < count {
            all.push(self.next().await.expect("the stream has ended"));
        }
        all
    }

    async fn block(&mut self) -> Option<String> {
        loop {
            let rest = self.text.get(self.read..).unwrap();
            if let Some((block, _)) = rest.split_once("\n\n") {
                let block = block.to_owned();
                self.read += block.len() + 2;
                if let Some(id) = block.lines().find_map(|line| line.strip_prefix("id: ")) {
                    self.last_id = id.to_owned();
                }
                return Some(block);
            }
            if self.is_over {
                assert_eq!(rest, "", "broken off");
                return None;
            }
            if !self.unchunk() {
                assert!(
                    more_bytes(&mut self.connection, &mut self.raw).await,
                    "cut off within a chunk"
                );
            }
        }
    }

    /// Takes a whole chunk from what came; `false` when there is none.
    fn unchunk(&mut self) -> bool {
        let Some(line) = self.raw.windows(2).position(|two| two == b"\r\n") else {
            return false;
        };
        let size = std::str::from_utf8(&self.raw[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        let end = line + 2 + size;
        if self.raw.len() < end + 2 {
            return false;
        }
        let text = std::str::from_utf8(&self.raw[line + 2..end]).unwrap();
        self.text.drain(..std::mem::take(&mut self.read));
        self.text.push_str(text);
        self.raw.drain(..end + 2);
        self.is_over = size == 0;
        true
    }
}
