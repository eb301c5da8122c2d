//! Settings of TLS.

use serde::Deserialize;
use std::path::PathBuf;

#[derive(Clone, Debug, Deserialize)]
pub struct TlsSettings {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl TlsSettings {
    #[must_use]
    pub fn is_on(&self) -> bool {
        !self.certificate.as_os_str().is_empty()
    }
}
