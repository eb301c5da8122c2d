//! A write timeout: a peer that reads nothing for too long is disconnected.

use crate::net::write_hook::WriteHook;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::AsyncWrite;
use tokio::time::{Sleep, sleep};

/// The clock runs only while a write is pending.
pub struct WriteTimeout {
    timeout: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl WriteTimeout {
    pub fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            deadline: None,
        }
    }
}

impl WriteHook for WriteTimeout {
    fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        stream: Pin<&mut S>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = stream.poll_write_vectored(context, parts);
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let timeout = self.timeout;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(timeout)));
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::write_hook::HookedStream;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn a_stalled_reader_is_disconnected_and_a_slow_one_is_not() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let mut stream = HookedStream::new(ours, WriteTimeout::new(Duration::from_millis(200)));
        let slowly = async {
            let mut byte = [0];
            for _ in 0..20 {
                tokio::time::sleep(Duration::from_millis(20)).await;
                theirs.read_exact(&mut byte).await.unwrap();
            }
        };
        // Longer than the timeout in total.
        let (written, ()) = tokio::join!(stream.write_all(&[7; 36]), slowly);
        written.unwrap();
        let error = stream.write_all(&[7]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
