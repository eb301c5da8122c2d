//! What the other side says to a request, honest or not.

use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio_rustls::server::TlsStream;

/// How a request is answered.
#[derive(Clone, Debug)]
pub enum CannedResponse {
    Status(u16),
    Body(u16, String),
    /// 302 to somewhere else.
    Redirect(String),
    /// A status, and then bytes without end.
    Endless,
    /// A status, and then a byte every second.
    Trickle,
    /// Nothing at all, for as long as the other side waits.
    Silence,
    /// Nothing at all, and the connection is closed.
    HangUp,
    /// A status, when the test says so.
    Held(Arc<Notify>, u16),
    /// A status, once the gate is open.
    Behind(Gate, u16),
    /// A status, after some time.
    After(Duration, u16),
    /// These very bytes, and the connection is closed.
    Bytes(Vec<u8>),
    /// These very bytes, and the connection is reset.
    BytesThenReset(Vec<u8>),
    /// These very bytes, and then nothing for as long as the other side waits.
    Stalled(Vec<u8>),
}

impl CannedResponse {
    /// The status that it says, if it comes to that.
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

    /// Waits for what the answer waits for.
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

/// Behind it everybody waits until it is opened; then nobody does.
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
        let _gone = opened.wait_for(|opened| *opened).await;
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

/// Gives an answer that waits for nothing any more.
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
            // Whoever drops it now says no farewell.
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
    match stays {
        true => stream.flush().await,
        false => stream.shutdown().await,
    }
}

async fn until_gone(stream: &mut Box<dyn Stream>) -> std::io::Result<()> {
    let mut byte = [0];
    while stream.read(&mut byte).await? > 0 {}
    Ok(())
}

/// A small answer that is 100 MB when it is unpacked: one zero, and then "the same once more" over and over.
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
