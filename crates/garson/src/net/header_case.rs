//! Sends header names in the case that the receiver expects.
//!
//! Names are case-insensitive by the standard, but not for every gateway, and hyper writes them in lower case. So the head of each
//! request is rewritten between hyper and the socket. Only the case of names changes, never a length.

use bytes::{Buf, BytesMut};
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Names that every request may have, as the standards spell them.
const USUAL: [&str; 6] = [
    "Host",
    "User-Agent",
    "Accept",
    "Authorization",
    "Content-Type",
    "Content-Length",
];
/// How much of a body may go out in one write with its head.
const WITH_HEAD: usize = 65_536;
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// The case of the names of one request. Other names have their usual case, or lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderCase {
    names: Vec<String>,
}

impl HeaderCase {
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = names.into_iter().map(str::to_owned).collect();
        Self { names }
    }

    fn of(&self, name: &[u8]) -> Option<&str> {
        let given = self.names.iter().map(String::as_str);
        given
            .chain(USUAL)
            .find(|spelled| spelled.as_bytes().eq_ignore_ascii_case(name))
    }

    /// Rewrites the names of a complete head; returns the length of the body.
    fn rewrite(&self, head: &mut [u8]) -> u64 {
        let mut length = 0;
        // The start line is no header.
        let lines = head.split_mut(|byte| *byte == b'\n').skip(1);
        for line in lines {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else {
                continue;
            };
            let (name, value) = line.split_at_mut(colon);
            if name.eq_ignore_ascii_case(b"content-length") {
                let digits = value.get(1..).unwrap_or_default().trim_ascii();
                length = std::str::from_utf8(digits)
                    .ok()
                    .and_then(|digits| digits.parse().ok())
                    .unwrap_or_default();
            }
            if let Some(spelled) = self.of(name) {
                name.copy_from_slice(spelled.as_bytes());
            }
        }
        length
    }
}

/// The header cases of requests whose heads are not yet written, in the order of the requests.
#[derive(Clone, Debug, Default)]
pub struct PendingCases(Arc<Mutex<VecDeque<HeaderCase>>>);

impl PendingCases {
    pub fn push(&self, case: HeaderCase) {
        self.lock().push_back(case);
    }

    fn next(&self) -> HeaderCase {
        self.lock().pop_front().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<HeaderCase>> {
        self.0.lock()
    }
}

/// What the next written byte belongs to.
enum Part {
    /// A head, with its bytes so far.
    Head(BytesMut),
    /// A body, with the number of bytes left.
    Body(u64),
}

/// A stream that rewrites the heads of requests. Every body must have its length in its head.
pub struct HeaderCaseStream<S> {
    stream: S,
    pending: PendingCases,
    part: Part,
    /// Bytes that were accepted and are not yet written.
    unwritten: BytesMut,
}

impl<S: AsyncWrite + Unpin> HeaderCaseStream<S> {
    pub fn new(stream: S, pending: PendingCases) -> Self {
        Self {
            stream,
            pending,
            part: Part::Head(BytesMut::new()),
            unwritten: BytesMut::new(),
        }
    }

    fn poll_unwritten(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.unwritten.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.unwritten))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.unwritten.advance(written);
        }
        Poll::Ready(Ok(()))
    }

    /// Takes the bytes of a head and the beginning of its body; returns how many.
    fn take_head(&mut self, mut head: BytesMut, bytes: &[u8]) -> usize {
        let before = head.len();
        head.extend_from_slice(bytes);
        let searched = before.saturating_sub(END_OF_HEAD.len() - 1);
        let rest = head.get(searched..).unwrap_or_default();
        let found = rest
            .windows(END_OF_HEAD.len())
            .position(|window| window == END_OF_HEAD);
        let Some(end) = found.map(|at| searched + at + END_OF_HEAD.len()) else {
            self.part = Part::Head(head);
            return bytes.len();
        };
        let mut body = head.split_off(end);
        let length = self.pending.next().rewrite(&mut head);
        let most = usize::try_from(length).unwrap_or(usize::MAX).min(WITH_HEAD);
        body.truncate(most);
        let taken = end - before + body.len();
        self.part = after_body(length, body.len());
        head.unsplit(body);
        self.unwritten = head;
        taken
    }
}

fn after_body(left: u64, written: usize) -> Part {
    match left.saturating_sub(u64::try_from(written).unwrap_or(u64::MAX)) {
        0 => Part::Head(BytesMut::new()),
        left => Part::Body(left),
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HeaderCaseStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_unwritten(context))?;
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        match &mut self.part {
            Part::Head(head) => {
                let head = std::mem::take(head);
                let taken = self.take_head(head, bytes);
                // The rest is written with the next write or flush.
                match self.poll_unwritten(context) {
                    Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                    Poll::Ready(Ok(())) | Poll::Pending => Poll::Ready(Ok(taken)),
                }
            }
            Part::Body(left) => {
                let left = *left;
                let most = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                let part = bytes.get(..most).unwrap_or(bytes);
                let written = ready!(Pin::new(&mut self.stream).poll_write(context, part))?;
                self.part = after_body(left, written);
                Poll::Ready(Ok(written))
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_unwritten(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_unwritten(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HeaderCaseStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

#[cfg(test)]
#[path = "header_case_tests.rs"]
mod tests;
