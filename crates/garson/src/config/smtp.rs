//! Settings of the mail server.

use crate::net::{Certificates, MailServer, MailTls, SmtpSettings};
use garson_core::secret::Secret;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub struct MailSettings {
    pub host: String,
    pub port: u16,
    pub tls: String,
    pub user: String,
    pub password: Secret<String>,
    pub from: String,
}

impl MailSettings {
    /// The first wrong setting, and what it may be.
    pub(super) fn first_wrong(&self) -> Option<(&'static str, &'static str)> {
        if self.mode().is_none() {
            return Some(("smtp.tls", "starttls, tls or none"));
        }
        if self.host.is_empty() {
            return None;
        }
        if !MailServer::is_sender(&self.from) {
            return Some(("smtp.from", "an address such as \"Garson <garson@example.com>\""));
        }
        let server = self.server(&Certificates::default());
        server
            .is_err()
            .then_some(("smtp.host", "empty, or the name of a mail server"))
    }

    fn mode(&self) -> Option<MailTls> {
        match self.tls.as_str() {
            "starttls" => Some(MailTls::Starttls),
            "tls" => Some(MailTls::Tls),
            "none" => Some(MailTls::None),
            _ => None,
        }
    }

    /// The mail server, if one is configured; the error says what is wrong with the settings.
    pub fn server(&self, certificates: &Certificates) -> Result<Option<MailServer>, String> {
        if self.host.is_empty() {
            return Ok(None);
        }
        let settings = SmtpSettings {
            host: self.host.clone(),
            port: self.port,
            tls: self.mode().unwrap_or(MailTls::Starttls),
            user: self.user.clone(),
            password: self.password.clone(),
            from: self.from.clone(),
        };
        MailServer::new(&settings, certificates).map(Some)
    }
}
