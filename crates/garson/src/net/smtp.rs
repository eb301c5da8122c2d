//! Sends e-mail by the operator's mail server, with a deadline for each stage.
//!
//! The server is the operator's choice, so the guard does not judge it. What went wrong is known to have happened either before
//! the message was handed over, or in the middle of it: only then it may have been sent.

use super::certificates::Certificates;
use garson_core::explanation::MessageFailure;
use garson_core::secret::Secret;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, MessageBuilder};
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{Address, Message};
use std::time::Duration;
use tokio::time::Instant;

/// For connecting, TLS and the log-in.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// For handing over a message.
const SEND_TIMEOUT: Duration = Duration::from_secs(20);
/// After this no further recipient is tried alone.
const ONE_BY_ONE: Duration = Duration::from_secs(30);
/// The most that is kept of what a server says.
const MAX_SAID: usize = 200;

/// How the connection to a mail server is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailTls {
    /// Plain at first, and encrypted before the log-in; a server that does not offer it is refused.
    Starttls,
    /// Encrypted from the first byte.
    Tls,
    /// Not encrypted: for a server on the same machine.
    None,
}

/// The operator's settings.
#[derive(Clone, Debug)]
pub struct SmtpSettings {
    pub host: String,
    pub port: u16,
    pub tls: MailTls,
    pub user: String,
    pub password: Secret<String>,
    pub from: String,
}

/// The operator's mail server.
#[derive(Clone)]
pub struct MailServer {
    host: String,
    port: u16,
    tls: MailTls,
    tls_parameters: TlsParameters,
    credentials: Option<Credentials>,
    from: Mailbox,
}

/// An e-mail.
#[derive(Clone, Debug)]
pub struct Mail<'a> {
    pub recipients: &'a [String],
    pub subject: &'a str,
    pub text: &'a str,
}

/// Why an e-mail was not sent, or may not have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailError {
    pub why: MessageFailure,
    /// Another attempt may succeed.
    pub is_temporary: bool,
    /// The message may have been sent.
    pub is_unclear: bool,
}

impl MailError {
    fn before(why: MessageFailure, is_temporary: bool) -> Self {
        Self {
            why,
            is_temporary,
            is_unclear: false,
        }
    }
}

type SmtpError = lettre::transport::smtp::Error;

impl MailServer {
    /// Checks the settings; the error says what is wrong with them.
    pub fn new(settings: &SmtpSettings, certificates: &Certificates) -> Result<Self, String> {
        let from = settings
            .from
            .parse()
            .map_err(|error| format!("smtp.from: {error}"))?;
        let mut tls = TlsParameters::builder(settings.host.clone());
        for der in certificates.der() {
            let certificate = Certificate::from_der(der.to_vec()).map_err(|error| error.to_string())?;
            tls = tls.add_root_certificate(certificate);
        }
        let has_user = !settings.user.is_empty();
        Ok(Self {
            host: settings.host.clone(),
            port: settings.port,
            tls: settings.tls,
            tls_parameters: tls
                .build_rustls()
                .map_err(|error| format!("smtp.host cannot be used with TLS: {error}"))?,
            credentials: has_user
                .then(|| Credentials::new(settings.user.clone(), settings.password.expose().clone())),
            from,
        })
    }

    /// Is this an address that a message can be sent to?
    #[must_use]
    pub fn is_address(text: &str) -> bool {
        text.parse::<Address>().is_ok()
    }

    /// Is this a sender, with or without a name?
    #[must_use]
    pub fn is_sender(text: &str) -> bool {
        text.parse::<Mailbox>().is_ok()
    }

    /// Sends an e-mail; it is sent if the server takes it for one of the recipients. When the server refuses it for all of them
    /// together, each is tried alone, because one unknown address must not keep it from the others.
    pub async fn send(&self, mail: &Mail<'_>) -> Result<(), MailError> {
        let mut result = self.send_together(mail).await;
        let is_refused = |error: &MailError| matches!(error.why, MessageFailure::MailServerAnswered { .. });
        if mail.recipients.len() < 2 || !result.as_ref().is_err_and(is_refused) {
            return result;
        }
        let began = Instant::now();
        for recipient in mail.recipients.chunks(1) {
            if began.elapsed() > ONE_BY_ONE {
                break;
            }
            let alone = self
                .send_together(&Mail {
                    recipients: recipient,
                    ..mail.clone()
                })
                .await;
            result = match (result, alone) {
                (Ok(()), _) | (_, Ok(())) => Ok(()),
                (Err(error), Err(other)) if error.is_unclear || !other.is_unclear => Err(error),
                (Err(_), Err(other)) => Err(other),
            };
        }
        result
    }

    async fn send_together(&self, mail: &Mail<'_>) -> Result<(), MailError> {
        let message = self.message(mail)?;
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, self.connect()).await;
        let mut connection =
            connected.unwrap_or_else(|_| Err(MailError::before(MessageFailure::MailServerNoAnswer, true)))?;
        let raw = message.formatted();
        let sending = connection.send(message.envelope(), &raw);
        let sent = tokio::time::timeout(SEND_TIMEOUT, sending).await;
        let result = match sent {
            Ok(Ok(_)) => Ok(()),
            // A server that answered has not accepted it.
            Ok(Err(error)) if error.status().is_some() => Err(MailError {
                is_temporary: error.is_transient(),
                ..MailError::before(answered(&error), true)
            }),
            Ok(Err(_)) | Err(_) => Err(MailError {
                why: MessageFailure::MailServerBroken,
                is_temporary: false,
                is_unclear: true,
            }),
        };
        // The message is accepted or not by now, whatever the server says to the farewell.
        let _ = tokio::time::timeout(Duration::from_secs(2), connection.abort()).await;
        result
    }

    fn message(&self, mail: &Mail<'_>) -> Result<Message, MailError> {
        let bad = || MailError::before(MessageFailure::BadAddress, false);
        let mut builder: MessageBuilder = Message::builder()
            .from(self.from.clone())
            .subject(mail.subject)
            .header(ContentType::TEXT_PLAIN);
        for recipient in mail.recipients {
            let address: Address = recipient.parse().map_err(|_| bad())?;
            builder = builder.to(Mailbox::new(None, address));
        }
        builder.body(mail.text.to_owned()).map_err(|_| bad())
    }

    /// Connects, encrypts and logs in.
    async fn connect(&self) -> Result<AsyncSmtpConnection, MailError> {
        let hello = ClientId::Domain("garson".to_owned());
        let implicit = (self.tls == MailTls::Tls).then(|| self.tls_parameters.clone());
        let server = (self.host.as_str(), self.port);
        let mut connection =
            AsyncSmtpConnection::connect_tokio1(server, Some(CONNECT_TIMEOUT), &hello, implicit, None)
                .await
                .map_err(not_connected)?;
        if self.tls == MailTls::Starttls {
            connection
                .starttls(self.tls_parameters.clone(), &hello)
                .await
                .map_err(|error| {
                    let error = shortened(&error);
                    MailError::before(MessageFailure::MailServerTls { error }, true)
                })?;
        }
        if let Some(credentials) = &self.credentials {
            let mechanisms = [Mechanism::Plain, Mechanism::Login];
            connection.auth(&mechanisms, credentials).await.map_err(|error| {
                let is_temporary = !error.is_permanent() && !error.is_client();
                MailError::before(MessageFailure::MailServerLogin, is_temporary)
            })?;
        }
        Ok(connection)
    }
}

fn not_connected(error: SmtpError) -> MailError {
    let why = if error.status().is_some() {
        answered(&error)
    } else if error.is_timeout() {
        MessageFailure::MailServerNoAnswer
    } else if error.is_tls() || has_tls_cause(&error) {
        MessageFailure::MailServerTls {
            error: shortened(&error),
        }
    } else {
        MessageFailure::MailServerUnreachable {
            error: shortened(&error),
        }
    };
    MailError::before(why, true)
}

/// Did the handshake fail? The mail library reports that of a connection encrypted from the first byte as a connection error.
fn has_tls_cause(error: &SmtpError) -> bool {
    use std::error::Error as _;
    let mut cause = error.source();
    while let Some(error) = cause {
        let wrapped = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        if error.is::<rustls::Error>() || wrapped.is_some_and(|inner| inner.is::<rustls::Error>()) {
            return true;
        }
        cause = error.source();
    }
    false
}

fn answered(error: &SmtpError) -> MessageFailure {
    let status = error.status().map_or(0, u16::from);
    MessageFailure::MailServerAnswered {
        status,
        said: shortened(error),
    }
}

fn shortened(error: &SmtpError) -> String {
    use std::error::Error as _;
    let text = error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string);
    let visible = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    visible.take(MAX_SAID).collect()
}
