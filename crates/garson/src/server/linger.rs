//! Closing a connection whose client may still be sending. A socket that is closed with unread data resets the connection, and the
//! client may lose the response that it was sent: a refusal before the body was read. So the rest is read and discarded for a while.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// For how long a client may send nothing before the connection is closed.
const SILENCE: Duration = Duration::from_secs(1);
/// For how long a client may go on sending.
const LONGEST: Duration = Duration::from_secs(5);
/// How much is discarded before other connections have their turn.
const CHUNKS: usize = 16;

pub struct Linger<S> {
    stream: S,
    closing: Option<Closing>,
}

struct Closing {
    began_at: Instant,
    silence: Pin<Box<Sleep>>,
}

impl<S> Linger<S> {
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            closing: None,
        }
    }
}

impl<S: AsyncRead + Unpin> Linger<S> {
    /// Discards what comes until the client has closed too, or the time is over.
    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        let closing = self.closing.get_or_insert_with(|| Closing {
            began_at: now,
            silence: Box::pin(sleep(SILENCE)),
        });
        let mut scratch = [0; 8192];
        for _ in 0..CHUNKS {
            if now.duration_since(closing.began_at) >= LONGEST {
                return Poll::Ready(());
            }
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Pending => return closing.silence.as_mut().poll(context),
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    closing.silence.as_mut().reset(now + SILENCE);
                }
                Poll::Ready(_) => return Poll::Ready(()),
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Linger<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Linger<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.closing.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        }
        ready!(self.poll_discard(context));
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test]
    async fn what_a_client_sends_is_discarded_until_it_closes() {
        let (ours, mut theirs) = duplex(64);
        let closing = tokio::spawn(async move { Linger::new(ours).shutdown().await });
        for _ in 0..100 {
            theirs.write_all(&[7; 640]).await.unwrap();
        }
        assert!(!closing.is_finished());
        assert_eq!(theirs.read(&mut [0]).await.unwrap(), 0, "our side is closed");
        drop(theirs);
        closing.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn silent_client_is_waited_for_briefly() {
        let (ours, _theirs) = duplex(64);
        let began_at = Instant::now();
        Linger::new(ours).shutdown().await.unwrap();
        assert!(began_at.elapsed() >= SILENCE);
    }

    #[tokio::test]
    async fn client_that_never_stops_is_left() {
        let (ours, mut theirs) = duplex(64);
        let began_at = Instant::now();
        let closing = tokio::spawn(async move { Linger::new(ours).shutdown().await });
        while theirs.write_all(&[7; 8]).await.is_ok() {
            sleep(SILENCE / 4).await;
        }
        closing.await.unwrap().unwrap();
        assert!(began_at.elapsed() >= LONGEST);
    }
}
