//! Connecting to PostgreSQL: to one of the hosts in the URL, each tried for a limited time.
//!
//! A host that accepts connections but does not reply, or one that is read-only, must not delay the next for long. All
//! connections of a process follow the one that found a host last, so that after a failover none of them stays behind.

use super::limits::Limits;
use crate::error::StoreError;
use garson_core::secret::Secret;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

type PgConnection = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// The hosts of a database, and which of them accepted a connection last.
pub struct Hosts {
    configs: Vec<Config>,
    tls: MakeRustlsConnect,
    limits: Limits,
    current: AtomicUsize,
}

impl Hosts {
    pub fn new(url: &Secret<String>, application: &str, limits: Limits) -> Result<Self, StoreError> {
        // The parser's own message may contain the URL, which contains a password.
        let mut config: Config = url
            .expose()
            .parse()
            .map_err(|_| StoreError::refused("the database URL cannot be understood"))?;
        config.application_name(application);
        config.connect_timeout(limits.connect());
        config.tcp_user_timeout(limits.statement());
        config.keepalives_idle(Duration::from_secs(10));
        let configs = each_host(&config)?;
        Ok(Self {
            configs,
            tls: tls(config.get_ssl_mode())?,
            limits,
            current: AtomicUsize::new(0),
        })
    }

    /// The index of the host that accepted a connection last.
    pub fn current(&self) -> usize {
        self.current.load(Ordering::Relaxed)
    }

    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Connects to the host that accepted a connection last, or to the next one that does; returns its index too.
    pub async fn connect(&self) -> Result<(Client, PgConnection, usize), StoreError> {
        let (first, count) = (self.current(), self.configs.len());
        let mut failed: Option<StoreError> = None;
        for number in (first..count).chain(0..first) {
            let Some(config) = self.configs.get(number) else {
                continue;
            };
            let error = match timeout(self.limits.connect(), config.connect(self.tls.clone())).await {
                Ok(Ok((client, connection))) => {
                    self.current.store(number, Ordering::Relaxed);
                    return Ok((client, connection, number));
                }
                Ok(Err(error)) => StoreError::from(error),
                Err(_) => StoreError::timed_out(),
            };
            // The error of a host that may accept later matters more than that of one that refuses.
            if failed.as_ref().is_none_or(|failed| !failed.is_temporary()) {
                failed = Some(error);
            }
        }
        Err(failed.unwrap_or_else(|| StoreError::refused("the database URL names no host")))
    }
}

/// A configuration for each of the hosts. Where there are several, only one that accepts writes will do.
fn each_host(config: &Config) -> Result<Vec<Config>, StoreError> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = hosts.len().max(addresses.len());
    if !hosts.is_empty() && !addresses.is_empty() && hosts.len() != addresses.len()
        || ports.len() > 1 && ports.len() != count
    {
        return Err(StoreError::refused(
            "the database URL names hosts, addresses and ports that do not belong together",
        ));
    }
    let one = |number: usize| {
        let mut one = without_hosts(config);
        match hosts.get(number) {
            Some(Host::Tcp(name)) => one.host(name),
            Some(Host::Unix(path)) => one.host_path(path),
            None => &mut one,
        };
        if let Some(address) = addresses.get(number) {
            one.hostaddr(*address);
        }
        if let Some(port) = ports.get(number).or(ports.first()) {
            one.port(*port);
        }
        if count > 1 {
            one.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        one
    };
    Ok((0..count).map(one).collect())
}

fn without_hosts(config: &Config) -> Config {
    let mut one = Config::new();
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    if let Some(name) = config.get_dbname() {
        one.dbname(name);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    if let Some(name) = config.get_application_name() {
        one.application_name(name);
    }
    if let Some(time) = config.get_connect_timeout() {
        one.connect_timeout(*time);
    }
    if let Some(time) = config.get_tcp_user_timeout() {
        one.tcp_user_timeout(*time);
    }
    if let Some(time) = config.get_keepalives_interval() {
        one.keepalives_interval(time);
    }
    if let Some(count) = config.get_keepalives_retries() {
        one.keepalives_retries(count);
    }
    one.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding());
    one
}

/// How connections are encrypted. `sslmode=require` in the URL demands a certificate of a public authority. Without it
/// (`prefer`) a server may also use plain text, so checking its certificate would be pointless; a self-signed one, as Debian
/// creates it, is accepted.
fn tls(mode: SslMode) -> Result<MakeRustlsConnect, StoreError> {
    let roots = rustls::RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::internal("cannot set up TLS").caused_by(error))?;
    let client = match mode {
        SslMode::Prefer => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
        _ => builder.with_root_certificates(roots),
    };
    Ok(MakeRustlsConnect::new(client.with_no_client_auth()))
}

/// Does this URL lead to a remote host whose certificate is not checked?
#[must_use]
pub fn accepts_any_certificate(url: &Secret<String>) -> bool {
    let Ok(config) = url.expose().parse::<Config>() else {
        return false;
    };
    let is_remote = |host: &Host| match host {
        Host::Tcp(name) => {
            let is_loopback = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
            !is_loopback && !name.eq_ignore_ascii_case("localhost")
        }
        Host::Unix(_) => false,
    };
    let addresses = config.get_hostaddrs();
    let is_remote = if addresses.is_empty() {
        config.get_hosts().iter().any(is_remote)
    } else {
        // Where addresses are given, names are not looked up.
        addresses.iter().any(|address| !address.is_loopback())
    };
    is_remote && config.get_ssl_mode() == SslMode::Prefer
}

/// Accepts any certificate, but still demands that the server has its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_host_keeps_the_other_settings() {
        let url = "postgres://me:secret@one:1,two:2/db?options=-c%20work_mem%3D1MB&sslmode=disable&keepalives_retries=7";
        let configs = each_host(&url.parse().unwrap()).unwrap();
        let [one, two] = <[Config; 2]>::try_from(configs).unwrap();
        assert_eq!(
            (one.get_hosts(), one.get_ports()),
            (&[Host::Tcp("one".to_owned())][..], &[1][..])
        );
        assert_eq!(
            (two.get_hosts(), two.get_ports()),
            (&[Host::Tcp("two".to_owned())][..], &[2][..])
        );
        let expected: Config = "postgres://me:secret@two:2/db?options=-c%20work_mem%3D1MB&sslmode=disable\
                                &keepalives_retries=7&target_session_attrs=read-write"
            .parse()
            .unwrap();
        assert_eq!(two, expected);
    }

    #[test]
    fn one_host_may_be_read_only_and_ports_are_shared() {
        let configs = each_host(&"postgres://me@one:7/db".parse().unwrap()).unwrap();
        assert_eq!(configs, ["postgres://me@one:7/db".parse().unwrap()]);
        let shared = each_host(&"host=one,two port=7 user=me".parse().unwrap()).unwrap();
        assert!(shared.iter().all(|config| config.get_ports() == [7]));
        assert!(each_host(&"host=one,two,three port=7,8 user=me".parse().unwrap()).is_err());
    }

    #[test]
    fn unchecked_certificates_are_reported_for_remote_hosts() {
        let accepts_any = |url: &str| accepts_any_certificate(&Secret::new(url.to_owned()));
        for url in [
            "postgres://me@db.example.com/db",
            "postgres://me@db.example.com/db?sslmode=prefer",
            "postgres://me@10.0.0.7/db",
            "postgres://me@localhost,db.example.com/db",
            "host=localhost hostaddr=10.0.0.7 user=me",
        ] {
            assert!(accepts_any(url), "{url}");
        }
        for url in [
            "postgres://me@db.example.com/db?sslmode=require",
            "postgres://me@db.example.com/db?sslmode=disable",
            "postgres://me@localhost/db",
            "postgres://me@127.0.0.1/db",
            "postgres://me@[::1]/db",
            "host=/run/postgresql user=me",
            "host=db.example.com hostaddr=127.0.0.1 user=me",
            "not a URL",
        ] {
            assert!(!accepts_any(url), "{url}");
        }
    }
}
