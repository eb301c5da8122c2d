//! A minimal HTTP/1.1 client on persistent connections, with requests made in advance.

use crate::error::Fallible;
use crate::order_body;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A server and a request to it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Target {
    pub address: String,
    pub request: String,
    /// Where in the request its number goes (ten digits), if it has one.
    pub number_at: Option<usize>,
}

impl Target {
    pub fn get(address: &str, key: &str, path: &str) -> Self {
        let request = format!("GET {path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {key}\r\n\r\n");
        Self {
            address: address.to_owned(),
            request,
            number_at: None,
        }
    }

    /// A page of the control panel for a signed-in user, compressed as for browsers.
    pub fn page(address: &str, session: &str, path: &str) -> Self {
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: bench\r\naccept-encoding: gzip\r\n\
             cookie: garson_session={session}\r\n\r\n"
        );
        Self {
            address: address.to_owned(),
            request,
            number_at: None,
        }
    }

    pub fn post_order(address: &str) -> Self {
        Self::post_order_of(address, 0)
    }

    /// An order of one branch among many.
    pub fn post_order_of(address: &str, branch: usize) -> Self {
        let (body, key) = (order_body::body_of(branch), order_body::inbound_key(branch));
        let request = format!(
            "POST /hooks/direct/orders HTTP/1.1\r\nhost: bench\r\nx-api-key: {key}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        Self {
            address: address.to_owned(),
            number_at: request.find(order_body::NUMBER),
            request,
        }
    }
}

/// A kept connection and its request.
pub struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    number_at: Option<usize>,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(target: &Target) -> Fallible<Self> {
        let stream = TcpStream::connect(&target.address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            request: target.request.clone().into_bytes(),
            number_at: target.number_at,
            buffer: vec![0; 2 * 1024 * 1024],
        })
    }

    /// Sends the request under a number and reads the answer's body to its end.
    pub async fn ask(&mut self, number: u64) -> Fallible<&[u8]> {
        put_number(&mut self.request, self.number_at, number);
        self.stream.write_all(&self.request).await?;
        let mut filled = 0;
        loop {
            let room = self.buffer.get_mut(filled..).filter(|room| !room.is_empty());
            let read = self.stream.read(room.ok_or("an answer is too long")?).await?;
            if read == 0 {
                return Err("a connection was closed".into());
            }
            filled += read;
            let so_far = self.buffer.get(..filled).unwrap_or_default();
            if let Some((body, end)) = extent(so_far)?
                && filled >= end
            {
                if !so_far.starts_with(b"HTTP/1.1 2") {
                    return Err(format!("refused: {}", String::from_utf8_lossy(so_far)).into());
                }
                return Ok(self.buffer.get(body..end).unwrap_or_default());
            }
        }
    }
}

/// A kept connection on which the answer has no end.
pub struct Stream {
    stream: TcpStream,
    heard: String,
}

impl Stream {
    /// Asks, and waits for the beginning of the answer.
    pub async fn open(target: &Target) -> Fallible<Self> {
        let mut stream = TcpStream::connect(&target.address).await?;
        stream.write_all(target.request.as_bytes()).await?;
        let heard = String::new();
        let mut opened = Self { stream, heard };
        opened.hear("\r\n\r\n", 1).await?;
        if !opened.heard.starts_with("HTTP/1.1 200") {
            return Err(format!("refused: {}", opened.heard).into());
        }
        Ok(opened)
    }

    /// Reads until a word has occurred this many times.
    pub async fn hear(&mut self, word: &str, times: usize) -> Fallible<()> {
        let mut buffer = vec![0; 16 * 1024];
        while self.heard.matches(word).count() < times {
            let read = self.stream.read(&mut buffer).await?;
            if read == 0 {
                return Err("a stream has ended".into());
            }
            let part = String::from_utf8_lossy(buffer.get(..read).unwrap_or_default());
            self.heard.push_str(&part);
        }
        Ok(())
    }
}

/// Puts its number into a request.
pub fn put_number(request: &mut [u8], at: Option<usize>, number: u64) {
    if let Some(place) = at.and_then(|at| request.get_mut(at..at + 10)) {
        place.copy_from_slice(format!("{number:010}").as_bytes());
    }
}

/// Where a message's body begins and ends, once its head is there.
pub fn extent(message: &[u8]) -> Fallible<Option<(usize, usize)>> {
    let Some(head) = message.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    // Names of headers have no case.
    let text = std::str::from_utf8(message.get(..head).unwrap_or_default())?.to_ascii_lowercase();
    if text.contains("\r\ntransfer-encoding: chunked") {
        // Compressed pages. Nothing follows an answer before the next request, so its end is the end of what was read.
        let is_whole = message.ends_with(b"\r\n0\r\n\r\n");
        return Ok(is_whole.then_some((head + 4, message.len())));
    }
    let length = text.split_once("content-length: ").map_or("", |(_, rest)| rest);
    let length: usize = length.split('\r').next().unwrap_or_default().parse()?;
    Ok(Some((head + 4, head + 4 + length)))
}

/// Asks once and gives the body.
pub fn ask_once(target: &Target) -> Fallible<Vec<u8>> {
    runtime()?.block_on(async { Ok(Connection::open(target).await?.ask(0).await?.to_vec()) })
}

pub fn runtime() -> Fallible<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}
