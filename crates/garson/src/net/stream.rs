//! A connection's bytes in both directions, plain or through TLS.

use tokio::io::{AsyncRead, AsyncWrite};

pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}
