//! Canned responses, valid and invalid.

use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio_rustls::server::TlsStream;

/// The response to a request.
#[derive(Clone, Debug)]
pub enum CannedResponse {
    Status(u16),
    Body(u16, String),
    /// 302 to somewhere else.
    Redirect(String),
    /// A status and an endless body.
    Endless,
    /// A status and one byte of the body every second.
    Trickle,
    /// No response; the connection stays open.
    Silence,
    /// No response; the connection is closed.
    HangUp,
    /// A status, when the test says so.
    Held(Arc<Notify>, u16),
    /// A status, once the gate is open.
    Behind(Gate, u16),
    /// A status, after some time.
    After(Duration, u16),
    /// These bytes, then the connection is closed.
    Bytes(Vec<u8>),
    /// These bytes, then the connection is reset.
    BytesThenReset(Vec<u8>),
    /// These bytes; the connection stays open.
    Stalled(Vec<u8>),
}

impl CannedResponse {
    /// Its status, if it has one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status(status)
            | Self::Body(status, _)
            | Self::Held(_, status)
            | Self::Behind(_, status)
            | Self::After(_, status) => Some(*status),
            Self::Redirect(_) => Some(302),
            Self::Endless | Self::Trickle => Some(200),
            Self::Bytes(bytes) | Self::BytesThenReset(bytes) | Self::Stalled(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                let (head, _) = text.split_once("\r\n\r\n")?;
                head.split(' ').nth(1)?.parse().ok()
            }
            Self::Silence | Self::HangUp => None,
        }
    }

    /// Whether another request may follow on the same connection.
    pub fn is_orderly(&self) -> bool {
        matches!(
            self,
            Self::Status(_)
                | Self::Body(..)
                | Self::Redirect(_)
                | Self::Held(..)
                | Self::Behind(..)
                | Self::After(..)
        )
    }

    /// Waits until the response is due.
    pub async fn awaited(self) -> Self {
        match self {
            Self::Held(release, status) => {
                release.notified().await;
                Self::Status(status)
            }
            Self::Behind(gate, status) => {
                gate.pass().await;
                Self::Status(status)
            }
            Self::After(pause, status) => {
                tokio::time::sleep(pause).await;
                Self::Status(status)
            }
            other => other,
        }
    }
}

/// Blocks responses until it is opened.
#[derive(Clone, Debug)]
pub struct Gate(watch::Sender<bool>);

impl Gate {
    pub fn closed() -> Self {
        Self(watch::Sender::new(false))
    }

    pub fn open(&self) {
        self.0.send_replace(true);
    }

    async fn pass(&self) {
        let mut opened = self.0.subscribe();
        // The sender may be dropped at the end of a test.
        let _ = opened.wait_for(|opened| *opened).await;
    }
}

/// Plain, or through TLS.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {
    fn tcp(&self) -> &TcpStream;
}

impl Stream for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Stream for TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// Sends a response that is due.
pub async fn give(stream: &mut Box<dyn Stream>, answer: CannedResponse, stays: bool) -> std::io::Result<()> {
    let close = if stays { "" } else { "connection: close\r\n" };
    let head = |status: u16, more: &str| format!("HTTP/1.1 {status} Said\r\n{more}{close}\r\n");
    match answer {
        CannedResponse::Status(status) => {
            let text = head(status, "content-length: 0\r\n");
            stream.write_all(text.as_bytes()).await?;
        }
        CannedResponse::Body(status, body) => {
            let text = head(status, &format!("content-length: {}\r\n", body.len())) + &body;
            stream.write_all(text.as_bytes()).await?;
        }
        CannedResponse::Redirect(to) => {
            let text = head(302, &format!("location: {to}\r\ncontent-length: 0\r\n"));
            stream.write_all(text.as_bytes()).await?;
        }
        CannedResponse::Endless => {
            stream.write_all(head(200, "").as_bytes()).await?;
            loop {
                stream.write_all(&[b'x'; 4096]).await?;
            }
        }
        CannedResponse::Trickle => {
            stream.write_all(head(200, "").as_bytes()).await?;
            loop {
                stream.write_all(b"x").await?;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
        CannedResponse::HangUp => {}
        CannedResponse::Bytes(bytes) => stream.write_all(&bytes).await?,
        CannedResponse::BytesThenReset(bytes) => {
            stream.write_all(&bytes).await?;
            // Dropping the socket now resets the connection.
            return stream.tcp().set_zero_linger();
        }
        CannedResponse::Stalled(bytes) => {
            stream.write_all(&bytes).await?;
            until_gone(stream).await?;
        }
        CannedResponse::Silence
        | CannedResponse::Held(..)
        | CannedResponse::Behind(..)
        | CannedResponse::After(..) => {
            until_gone(stream).await?;
        }
    }
    if stays {
        stream.flush().await
    } else {
        stream.shutdown().await
    }
}

async fn until_gone(stream: &mut Box<dyn Stream>) -> std::io::Result<()> {
    let mut byte = [0];
    while stream.read(&mut byte).await? > 0 {}
    Ok(())
}

/// A small response that decompresses to 100 MB of zeros.
pub fn gzip_bomb() -> Vec<u8> {
    const UNPACKED: usize = 100 * 1024 * 1024;
    // The only block, in the fixed code; its first byte is a zero.
    let mut bits = vec![true, true, false];
    bits.extend([false, false, true, true, false, false, false, false]);
    // 258 bytes from one byte before.
    let again = [
        true, true, false, false, false, true, false, true, false, false, false, false, false,
    ];
    for _ in 0..UNPACKED / 258 {
        bits.extend(again);
    }
    // Nothing more.
    bits.extend([false; 7]);
    let byte = |eight: &[bool]| {
        (0..)
            .zip(eight)
            .fold(0, |byte, (n, bit)| byte | (u8::from(*bit) << n))
    };
    let mut body = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    body.extend(bits.chunks(8).map(byte));
    body.extend([0; 8]);
    let head = format!(
        "HTTP/1.1 200 Said\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}
