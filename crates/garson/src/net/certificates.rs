//! Certificates of authorities that are trusted beyond the public ones: a restaurant's own network may have its own.

use std::path::Path;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};

#[derive(Clone, Debug, Default)]
pub struct Certificates(Vec<CertificateDer<'static>>);

impl Certificates {
    /// Reads a PEM file, or says what is wrong with it.
    pub fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = std::fs::read(path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
        let read: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&text).collect();
        let certificates = read.map_err(|_| format!("{shown} is not a PEM file"))?;
        if certificates.is_empty() {
            return Err(format!("{shown} holds no certificate"));
        }
        let certificates = Self(certificates);
        let mut tried = RootCertStore::empty();
        match certificates.add_to(&mut tried) {
            true => Ok(certificates),
            false => Err(format!("{shown} holds a certificate that cannot be used")),
        }
    }

    /// Adds them to those that are trusted; `false` if one cannot be read.
    pub(super) fn add_to(&self, roots: &mut RootCertStore) -> bool {
        let (_, ignored) = roots.add_parsable_certificates(self.0.iter().cloned());
        ignored == 0
    }
}
