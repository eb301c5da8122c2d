//! Bodies for the errors that hyper sends by itself, before there is a request: malformed HTTP, or a head that is too large. They
//! have neither a body nor a request id; here they get both, like every other error.

use crate::http::error::{ApiError, Code};
use crate::net::write_hook::WriteHook;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use uuid::Uuid;

/// Replaces empty error responses by complete ones.
#[derive(Default)]
pub struct ProtocolErrors {
    replacement: Option<Replacement>,
}

/// A complete response that is being written instead of an empty one.
struct Replacement {
    bytes: Vec<u8>,
    written: usize,
    /// The length of the empty response.
    replaced: usize,
}

impl Replacement {
    fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        mut stream: Pin<&mut S>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        while let Some(rest) = self.bytes.get(self.written..).filter(|rest| !rest.is_empty()) {
            match ready!(stream.as_mut().poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
        }
        Poll::Ready(Ok(self.replaced))
    }
}

impl WriteHook for ProtocolErrors {
    fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        stream: Pin<&mut S>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // hyper writes an empty response in one part.
        if let (None, [only]) = (&self.replacement, parts) {
            self.replacement = complete(only).map(|complete| Replacement {
                bytes: complete,
                written: 0,
                replaced: only.len(),
            });
        }
        let Some(replacement) = &mut self.replacement else {
            return stream.poll_write_vectored(context, parts);
        };
        let replaced = ready!(replacement.poll_write(stream, context))?;
        self.replacement = None;
        Poll::Ready(Ok(replaced))
    }
}

/// The complete response for an empty error response. Responses of our own are recognised by their request id.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::write_hook::HookedStream;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// What arrives when this is written through a pipe that accepts a few bytes at a time.
    async fn written(bytes: &[u8]) -> String {
        let (ours, mut theirs) = tokio::io::duplex(7);
        let mut stream = HookedStream::new(ours, ProtocolErrors::default());
        let writing = async {
            stream.write_all(bytes).await.unwrap();
            stream.shutdown().await.unwrap();
        };
        let mut text = String::new();
        let reading = theirs.read_to_string(&mut text);
        let ((), read) = tokio::join!(writing, reading);
        read.unwrap();
        text
    }

    #[tokio::test]
    async fn empty_error_responses_get_a_body_and_an_id() {
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
    async fn other_responses_are_unchanged() {
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
