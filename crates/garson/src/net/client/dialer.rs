//! Opens a connection: resolves the name, has the guard check its addresses, connects, and does the TLS handshake.

use super::progress::Progress;
use crate::net::ByteStream;
use crate::net::certificates::Certificates;
use crate::net::explain;
use crate::net::guard::{self, Host, Policy, Scheme, Target};
use crate::net::resolve::Resolve;
use crate::net::sent::{SendError, Stage};
use garson_core::explanation::{NetworkFailure, TlsFailure};
use garson_core::id::AccountId;
use garson_core::platform::Trust;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::ServerName;

#[derive(Clone)]
pub struct Dialer {
    pub policy: Arc<Policy>,
    pub resolver: Arc<dyn Resolve>,
    pub tls: TlsConnector,
    /// The account whose names are resolved.
    pub account: Option<AccountId>,
}

impl Dialer {
    /// The addresses of a target. If an account gave the target, the guard checks all of them.
    pub async fn addresses(
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
                let not_resolved = || NetworkFailure::NameNotResolved { name: name.clone() };
                let found = found.map_err(|_| progress.failed(not_resolved()))?;
                progress.timing.name = Some(began.elapsed());
                found
            }
        };
        if trust == Trust::Account {
            guard::check(&self.policy, target, &addresses).map_err(SendError::NotAllowed)?;
        }
        Ok(addresses)
    }

    /// Connects to one of these addresses; returns which it is.
    pub async fn connect(
        &self,
        target: &Target,
        addresses: &[IpAddr],
        progress: &mut Progress,
    ) -> Result<(Box<dyn ByteStream>, IpAddr), SendError> {
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

async fn connect(addresses: &[IpAddr], port: u16) -> Result<(TcpStream, IpAddr), NetworkFailure> {
    let mut last = NetworkFailure::NoAddress;
    for address in addresses {
        match TcpStream::connect(SocketAddr::new(*address, port)).await {
            Ok(stream) => {
                // Without it the connection works too, only slower.
                let _ = stream.set_nodelay(true);
                return Ok((stream, *address));
            }
            Err(error) => last = explain::connect(&error),
        }
    }
    Err(last)
}

fn server_name(host: &Host) -> Result<ServerName<'static>, TlsFailure> {
    match host.literal() {
        Some(address) => Ok(ServerName::from(address)),
        None => {
            let host = host.to_string();
            ServerName::try_from(host.clone()).map_err(|_| TlsFailure::HostNotAllowedInCertificate { host })
        }
    }
}

/// TLS that trusts the public authorities and these.
pub fn tls_connector(further: &Certificates) -> Result<TlsConnector, rustls::Error> {
    let mut roots = rustls::RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    further.add_to(&mut roots);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
