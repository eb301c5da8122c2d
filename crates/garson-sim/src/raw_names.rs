//! The names of a request's headers as they were on the wire: hyper shows them in lower case only, and some gateways mind.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// The header names of the current request as they were spelled. A client sends the next request only after the answer, so
/// there is one at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawNames(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    bytes: Vec<u8>,
    is_whole: bool,
}

impl RawNames {
    /// The names in the head that has been read.
    pub(crate) fn names(&self) -> Vec<String> {
        let seen = self.lock();
        let head = String::from_utf8_lossy(&seen.bytes);
        let head = head.split("\r\n\r\n").next().unwrap_or_default();
        head.lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .map(|(name, _)| name.to_owned())
            .collect()
    }

    /// The request has been read; what comes now is the next one's head.
    pub(crate) fn next(&self) {
        *self.lock() = Seen::default();
    }

    fn see(&self, bytes: &[u8]) {
        let mut seen = self.lock();
        if !seen.is_whole {
            let from = seen.bytes.len().saturating_sub(END_OF_HEAD.len() - 1);
            seen.bytes.extend_from_slice(bytes);
            let rest = seen.bytes.get(from..).unwrap_or_default();
            seen.is_whole = rest
                .windows(END_OF_HEAD.len())
                .any(|window| window == END_OF_HEAD);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream whose requests' heads are remembered.
#[derive(Debug)]
pub(crate) struct Remembering<S> {
    pub stream: S,
    pub names: RawNames,
}

impl<S: AsyncRead + Unpin> AsyncRead for Remembering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.names.see(buffer.filled().get(before..).unwrap_or_default());
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Remembering<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
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

    #[test]
    fn names_are_found_however_the_head_is_cut() {
        let request = b"POST /a HTTP/1.1\r\nHost: x\r\nXApiKey: a:b\r\n\r\nxapikey: 1\r\n\r\nY: 2";
        for size in 1..request.len() {
            let names = RawNames::default();
            for piece in request.chunks(size) {
                names.see(piece);
            }
            assert_eq!(names.names(), ["Host", "XApiKey"]);
            names.next();
            assert!(names.names().is_empty());
        }
    }
}
