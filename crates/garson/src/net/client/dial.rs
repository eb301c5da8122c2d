//! The way to an open connection: the name, its addresses, the guard's word on them, TLS.

use super::{Client, Progress};
use crate::net::explain;
use crate::net::guard::{self, Host, Scheme, Target};
use crate::net::sent::{SendError, Stage};
use garson_core::platform::Trust;
use std::net::{IpAddr, SocketAddr};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::rustls::pki_types::ServerName;

/// Bytes both ways, plain or through TLS.
pub trait Line: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Line for S {}

impl Client {
    /// Connects to a target that was judged as for a request, for a caller that wants to speak in its own way: slowly, or
    /// not to the end. The caller watches the time.
    pub async fn dial(&self, target: &Target, trust: Trust) -> Result<Box<dyn Line>, SendError> {
        let mut progress = Progress::default();
        let addresses = self.addresses(target, trust, &mut progress).await?;
        let (line, _) = self.line(target, &addresses, &mut progress).await?;
        Ok(line)
    }

    /// The addresses of a target, every one of them judged if an account gave it.
    pub(super) async fn addresses(
        &self,
        target: &Target,
        trust: Trust,
        progress: &mut Progress,
    ) -> Result<Vec<IpAddr>, SendError> {
        if trust == Trust::Account {
            guard::check_name(&self.policy, target).map_err(SendError::NotAllowed)?;
        }
        let addresses = match target.host() {
            Host::V4(address) => vec![IpAddr::V4(*address)],
            Host::V6(address) => vec![IpAddr::V6(*address)],
            Host::Name(name) => {
                let began = progress.begin(Stage::Name);
                let found = self.resolver.resolve_for(name, self.account).await;
                let found =
                    found.map_err(|_| progress.failed(format!("the name {name} cannot be resolved")))?;
                progress.timing.name = Some(began.elapsed());
                found
            }
        };
        if trust == Trust::Account {
            guard::check(&self.policy, target, &addresses).map_err(SendError::NotAllowed)?;
        }
        Ok(addresses)
    }

    /// A line to one of these addresses, and which it is.
    pub(super) async fn line(
        &self,
        target: &Target,
        addresses: &[IpAddr],
        progress: &mut Progress,
    ) -> Result<(Box<dyn Line>, IpAddr), SendError> {
        let began = progress.begin(Stage::Connect);
        let (stream, address) = connect(addresses, target.port())
            .await
            .map_err(|why| progress.failed(why))?;
        progress.timing.connect = Some(began.elapsed());
        if target.scheme() == Scheme::Http {
            return Ok((Box::new(stream), address));
        }
        let began = progress.begin(Stage::Tls);
        let name = server_name(target.host()).map_err(|why| progress.failed(why))?;
        let secure = self.tls.connect(name, stream).await;
        let secure = secure.map_err(|error| progress.failed(explain::tls(&error, target.host())))?;
        progress.timing.tls = Some(began.elapsed());
        Ok((Box::new(secure), address))
    }
}

async fn connect(addresses: &[IpAddr], port: u16) -> Result<(TcpStream, IpAddr), String> {
    let mut last = "the name has no address".to_owned();
    for address in addresses {
        match TcpStream::connect(SocketAddr::new(*address, port)).await {
            Ok(stream) => {
                drop(stream.set_nodelay(true));
                return Ok((stream, *address));
            }
            Err(error) => last = explain::connect(&error),
        }
    }
    Err(last)
}

fn server_name(host: &Host) -> Result<ServerName<'static>, String> {
    match host.literal() {
        Some(address) => Ok(ServerName::from(address)),
        None => {
            ServerName::try_from(host.to_string()).map_err(|_| format!("{host} cannot be in a certificate"))
        }
    }
}
