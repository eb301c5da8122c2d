//! TLS of the server: certificate and key from files, which are read again when they change. Connections that are open keep what
//! they were opened with.

use crate::config::TlsSettings;
use parking_lot::RwLock;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{InconsistentKeys, ServerConfig};

/// How often the files are checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The certificate in use.
#[derive(Debug)]
pub struct Tls {
    files: TlsSettings,
    current: RwLock<Arc<CertifiedKey>>,
}

impl ResolvesServerCert for Tls {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read()))
    }
}

impl Tls {
    /// Reads the files, if TLS is on; the error says what is wrong with them.
    pub fn load(files: &TlsSettings) -> Result<Option<Arc<Self>>, String> {
        if !files.is_on() {
            return Ok(None);
        }
        let current = RwLock::new(Arc::new(read(files)?));
        let files = files.clone();
        Ok(Some(Arc::new(Self { files, current })))
    }

    pub fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor, String> {
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let resolver: Arc<dyn ResolvesServerCert> = self.clone();
        let mut config = config.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Reads the files again; the old certificate stays in use if they are wrong.
    fn reload(&self, why: &str) {
        match read(&self.files) {
            Ok(fresh) => {
                let is_new = self.current.read().cert != fresh.cert;
                *self.current.write() = Arc::new(fresh);
                if is_new {
                    tracing::info!(why, "the TLS certificate was replaced");
                }
            }
            Err(error) => {
                tracing::error!(
                    why,
                    "the TLS certificate was not replaced, the old one stays in use: {error}"
                );
            }
        }
    }

    /// Follows the files until the service stops.
    pub async fn follow(self: Arc<Self>) {
        let mut hang_up = match signal(SignalKind::hangup()) {
            Ok(hang_up) => Some(hang_up),
            Err(error) => {
                tracing::warn!(%error, "SIGHUP is not handled");
                None
            }
        };
        let mut used = self.versions();
        let mut seen = used;
        loop {
            let is_asked = async {
                match &mut hang_up {
                    Some(hang_up) => {
                        hang_up.recv().await;
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = is_asked => {
                    used = self.versions();
                    self.reload("SIGHUP");
                }
                () = tokio::time::sleep(CHECK_INTERVAL) => {
                    let now = self.versions();
                    // Certificate and key are not replaced at the same time: wait until both stay as they are.
                    if now != used && now == seen {
                        used = now;
                        self.reload("the files have changed");
                    }
                    seen = now;
                }
            }
        }
    }

    fn versions(&self) -> [FileVersion; 2] {
        [
            FileVersion::of(&self.files.certificate),
            FileVersion::of(&self.files.key),
        ]
    }
}

/// Tells whether a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileVersion {
    changed: Option<SystemTime>,
    length: u64,
    number: u64,
}

impl FileVersion {
    fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok();
        Self {
            changed: metadata.as_ref().and_then(|file| file.modified().ok()),
            length: metadata.as_ref().map_or(0, |file| file.len()),
            number: metadata.as_ref().map_or(0, |file| file.ino()),
        }
    }
}

fn read(files: &TlsSettings) -> Result<CertifiedKey, String> {
    let (certificate, key) = (files.certificate.display(), files.key.display());
    let bytes = |path: &Path| {
        std::fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes(&files.certificate)?).collect();
    let chain = chain.map_err(|_| format!("{certificate} is not a PEM file"))?;
    if chain.is_empty() {
        return Err(format!("{certificate} holds no certificate"));
    }
    let private = PrivateKeyDer::from_pem_slice(&bytes(&files.key)?)
        .map_err(|_| format!("{key} holds no private key in PEM form"))?;
    let signing = ring::default_provider()
        .key_provider
        .load_private_key(private)
        .map_err(|_| format!("the private key in {key} cannot be used"))?;
    let pair = CertifiedKey::new(chain, signing);
    match pair.keys_match() {
        // Where it cannot be told, clients will.
        Ok(()) | Err(tokio_rustls::rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(pair),
        Err(tokio_rustls::rustls::Error::InconsistentKeys(_)) => Err(format!(
            "the private key in {key} does not belong to the certificate in {certificate}"
        )),
        Err(_) => Err(format!("{certificate} holds a certificate that cannot be used")),
    }
}
