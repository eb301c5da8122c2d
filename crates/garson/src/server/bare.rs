//! Answers that the HTTP layer gives by itself, before there is a request: what is not HTTP, or a head that is too large. They
//! come without a body and an id, and get here what every other refusal has.

use crate::api::{ApiError, Code};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use uuid::Uuid;

/// A connection on which bare refusals are completed.
pub struct Completing<S> {
    stream: S,
    completed: Option<Completed>,
}

/// An answer on its way instead of a bare one.
struct Completed {
    bytes: Vec<u8>,
    written: usize,
    /// The length of the bare one.
    stands_for: usize,
}

impl<S> Completing<S> {
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            completed: None,
        }
    }
}

impl<S: AsyncWrite + Unpin> Completing<S> {
    /// Writes the whole answer that stands for the bare one; nothing when there is none.
    fn poll_completed(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Option<Poll<io::Result<usize>>> {
        if self.completed.is_none() {
            self.completed = complete(bytes).map(|completed| Completed {
                bytes: completed,
                written: 0,
                stands_for: bytes.len(),
            });
        }
        self.completed.is_some().then(|| self.poll_rest(context))
    }

    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let stream = &mut self.stream;
        let Some(completed) = &mut self.completed else {
            return Poll::Ready(Ok(0));
        };
        while let Some(rest) = completed
            .bytes
            .get(completed.written..)
            .filter(|rest| !rest.is_empty())
        {
            match ready!(Pin::new(&mut *stream).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => completed.written += count,
            }
        }
        let stands_for = completed.stands_for;
        self.completed = None;
        Poll::Ready(Ok(stands_for))
    }
}

/// The answer with a body, if this is a refusal that has none. All answers of ours carry the id of their request.
fn complete(bytes: &[u8]) -> Option<Vec<u8>> {
    let message = match bytes.strip_prefix(b"HTTP/1.1 ")?.get(..4)? {
        b"400 " => "This is not a request in HTTP/1.1, or in HTTP/2.",
        b"414 " => "The address is too long.",
        b"431 " => "The head is larger than 64 KiB, or has more than 100 lines.",
        _ => return None,
    };
    let head = std::str::from_utf8(bytes).ok()?.strip_suffix("\r\n\r\n")?;
    let is_head = !head.contains("\r\n\r\n") && !head.contains("\r\nx-request-id:");
    let bare = head.find("\r\ncontent-length: 0").filter(|_| is_head)?;
    let (before, rest) = head.split_at(bare);
    let after = rest.strip_prefix("\r\ncontent-length: 0")?;
    let id = Uuid::now_v7().to_string();
    let body = ApiError::new(Code::BrokenRequest, message).body(&id);
    let more = format!(
        "\r\ncontent-type: application/json\r\ncontent-length: {}\r\nx-request-id: {id}\r\n\r\n",
        body.len()
    );
    Some([before.as_bytes(), after.as_bytes(), more.as_bytes(), &body].concat())
}

impl<S: AsyncRead + Unpin> AsyncRead for Completing<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Completing<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.poll_completed(context, bytes) {
            Some(written) => written,
            None => Pin::new(&mut self.stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A bare answer is one part.
        let first = match parts {
            [only] => self.poll_completed(context, only),
            _ => None,
        };
        match first {
            Some(written) => written,
            None => Pin::new(&mut self.stream).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// What arrives when this is written through a pipe that takes a few bytes at a time.
    async fn written(bytes: &[u8]) -> String {
        let (ours, mut theirs) = tokio::io::duplex(7);
        let mut completing = Completing::new(ours);
        let writing = async {
            completing.write_all(bytes).await.unwrap();
            completing.shutdown().await.unwrap();
        };
        let mut text = String::new();
        let reading = theirs.read_to_string(&mut text);
        let ((), read) = tokio::join!(writing, reading);
        read.unwrap();
        text
    }

    #[tokio::test]
    async fn bare_refusals_get_a_body_and_an_id() {
        let bare = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\ndate: now\r\n\r\n";
        let text = written(bare.as_bytes()).await;
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["error"]["code"], "broken_request");
        let id = body["requestId"].as_str().unwrap();
        let lines: Vec<&str> = head.lines().collect();
        let length = format!("content-length: {}", text.len() - head.len() - 4);
        let id = format!("x-request-id: {id}");
        assert_eq!(
            lines,
            [
                "HTTP/1.1 431 Request Header Fields Too Large",
                "connection: close",
                "date: now",
                "content-type: application/json",
                &length,
                &id,
            ]
        );
    }

    #[tokio::test]
    async fn everything_else_is_left_as_it_is() {
        for text in [
            "",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nx-request-id: 7\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 400",
        ] {
            assert_eq!(written(text.as_bytes()).await, text);
        }
    }
}
