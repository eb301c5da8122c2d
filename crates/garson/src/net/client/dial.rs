//! A connection alone, for a caller that wants to speak over it in its own way: slowly, or not to the end.

use super::{Client, SendError, connect};
use crate::net::guard::{Scheme, Target};
use garson_core::platform::Trust;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::rustls::pki_types::ServerName;

/// Bytes both ways, plain or through TLS.
pub trait Line: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Line for S {}

impl Client {
    /// Connects to a target that was judged as for a request; the caller watches the time.
    pub async fn dial(&self, target: &Target, trust: Trust) -> Result<Box<dyn Line>, SendError> {
        let addresses = self.addresses(target, trust).await?;
        let stream = connect(&addresses, target.port()).await?;
        match target.scheme() {
            Scheme::Http => Ok(Box::new(stream)),
            Scheme::Https => {
                let host = target.host().to_string();
                let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
                    .map_err(|_| SendError::Unreachable(format!("{host} cannot be in a certificate")))?;
                let secure = self.tls.connect(name, stream).await;
                let secure =
                    secure.map_err(|error| SendError::Unreachable(format!("TLS failed: {error}")))?;
                Ok(Box::new(secure))
            }
        }
    }
}
