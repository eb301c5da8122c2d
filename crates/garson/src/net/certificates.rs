//! Additional certificate authorities, such as that of a restaurant's own network.

use std::path::Path;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};

#[derive(Clone, Debug, Default)]
pub struct Certificates(Vec<CertificateDer<'static>>);

impl Certificates {
    /// Reads a PEM file; the error says what is wrong with it.
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
        if certificates.add_to(&mut tried) {
            Ok(certificates)
        } else {
            Err(format!("{shown} holds a certificate that cannot be used"))
        }
    }

    /// The certificates themselves.
    pub(super) fn der(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Adds them to the trusted ones; `false` if one cannot be read.
    pub(super) fn add_to(&self, roots: &mut RootCertStore) -> bool {
        let (_, ignored) = roots.add_parsable_certificates(self.0.iter().cloned());
        ignored == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("till.pem");
        std::fs::write(&path, text).unwrap();
        let wrong = Certificates::read(&path).unwrap_err();
        wrong.replace(&folder.path().display().to_string(), "")
    }

    #[test]
    fn error_names_the_file_and_the_reason() {
        assert_eq!(read(""), "/till.pem holds no certificate");
        assert_eq!(read("hello"), "/till.pem holds no certificate");
        let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        assert_eq!(read(key), "/till.pem holds no certificate");
        let unfinished = "-----BEGIN CERTIFICATE-----\nAAAA\n";
        assert_eq!(read(unfinished), "/till.pem is not a PEM file");
        let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert_eq!(
            read(nonsense),
            "/till.pem holds a certificate that cannot be used"
        );
        let wrong = Certificates::read(Path::new("/nowhere/till.pem")).unwrap_err();
        assert!(wrong.starts_with("/nowhere/till.pem cannot be read: "), "{wrong}");
    }
}
