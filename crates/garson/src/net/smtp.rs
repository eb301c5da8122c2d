//! Sends e-mail by the operator's mail server, with a deadline for each stage.
//!
//! The server is the operator's choice, so the guard does not judge it. A server accepts a message when it has received the dot
//! at its end: what goes wrong before that was certainly not sent; what goes wrong afterwards, without an answer, may have been.

use super::certificates::Certificates;
use garson_core::explanation::MessageFailure;
use garson_core::secret::Secret;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, MessageBuilder};
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail as MailFrom, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};
use lettre::{Address, Message};
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// The name by which the service introduces itself.
    hello: ClientId,
}

/// An e-mail.
#[derive(Clone, Debug)]
pub struct Mail<'a> {
    /// Unique, and the same for every attempt: the first part of the Message-ID.
    pub id: &'a str,
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

    /// Which of several errors decides: a message that may have been sent is not repeated, one that another attempt may send is.
    fn rank(&self) -> u8 {
        match (self.is_unclear, self.is_temporary) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        }
    }
}

type SmtpError = lettre::transport::smtp::Error;

impl MailServer {
    /// Checks the settings; the error says what is wrong with them.
    pub fn new(settings: &SmtpSettings, certificates: &Certificates) -> Result<Self, String> {
        let from: Mailbox = settings
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
            hello: hello_name(from.email.domain()),
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
        let together = match self.send_together(mail).await {
            Err(error) if mail.recipients.len() > 1 && is_refusal(&error) => error,
            result => return result,
        };
        let began = Instant::now();
        let mut is_sent = false;
        let mut failure: Option<MailError> = None;
        for recipient in mail.recipients.chunks(1) {
            if began.elapsed() > ONE_BY_ONE {
                break;
            }
            let alone = Mail {
                recipients: recipient,
                ..mail.clone()
            };
            match self.send_together(&alone).await {
                Ok(()) => is_sent = true,
                Err(error) if failure.as_ref().is_none_or(|it| it.rank() < error.rank()) => {
                    failure = Some(error);
                }
                Err(_) => {}
            }
        }
        if is_sent {
            return Ok(());
        }
        Err(failure.unwrap_or(together))
    }

    async fn send_together(&self, mail: &Mail<'_>) -> Result<(), MailError> {
        let message = self.message(mail)?;
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, self.connect()).await;
        let mut connection =
            connected.unwrap_or_else(|_| Err(MailError::before(MessageFailure::MailServerNoAnswer, true)))?;
        let is_complete = AtomicBool::new(false);
        let sending = hand_over(&mut connection, &message, &is_complete);
        let sent = tokio::time::timeout(SEND_TIMEOUT, sending).await;
        let result = match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(HandOverError::Address)) => Err(MailError::before(MessageFailure::BadAddress, false)),
            // A server that answered has not accepted it.
            Ok(Err(HandOverError::Smtp(error))) if error.status().is_some() => Err(MailError {
                is_temporary: error.is_transient(),
                ..MailError::before(answered(&error), true)
            }),
            _ if is_complete.load(Ordering::Relaxed) => Err(MailError {
                why: MessageFailure::MailServerBroken,
                is_temporary: false,
                is_unclear: true,
            }),
            Ok(Err(HandOverError::Smtp(error))) if !error.is_timeout() => {
                Err(MailError::before(MessageFailure::MailServerClosed, true))
            }
            Ok(Err(_)) | Err(_) => Err(MailError::before(MessageFailure::MailServerNoAnswer, true)),
        };
        // The message is accepted or not by now, whatever the server says to the farewell.
        let _ = tokio::time::timeout(Duration::from_secs(2), connection.abort()).await;
        result
    }

    fn message(&self, mail: &Mail<'_>) -> Result<Message, MailError> {
        let bad = || MailError::before(MessageFailure::BadAddress, false);
        let mut builder: MessageBuilder = Message::builder()
            .from(self.from.clone())
            .message_id(Some(format!("<{}@{}>", mail.id, self.domain())))
            .subject(mail.subject)
            .header(ContentType::TEXT_PLAIN);
        for recipient in mail.recipients {
            let address: Address = recipient.parse().map_err(|_| bad())?;
            builder = builder.to(Mailbox::new(None, address));
        }
        builder.body(mail.text.to_owned()).map_err(|_| bad())
    }

    /// The domain of message ids.
    fn domain(&self) -> String {
        match &self.hello {
            ClientId::Domain(domain) => domain.clone(),
            _ => "localhost".to_owned(),
        }
    }

    /// Connects, encrypts and logs in.
    async fn connect(&self) -> Result<AsyncSmtpConnection, MailError> {
        let hello = &self.hello;
        let implicit = (self.tls == MailTls::Tls).then(|| self.tls_parameters.clone());
        let server = (self.host.as_str(), self.port);
        let mut connection =
            AsyncSmtpConnection::connect_tokio1(server, Some(CONNECT_TIMEOUT), hello, implicit, None)
                .await
                .map_err(not_connected)?;
        if self.tls == MailTls::Starttls {
            connection
                .starttls(self.tls_parameters.clone(), hello)
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

/// The name by which a server is greeted: the domain of the sender, because the name of the machine is often not one that the
/// server could look up. Without a full domain it is the address literal that stands for no name.
fn hello_name(domain: &str) -> ClientId {
    match url::Host::parse(domain) {
        Ok(url::Host::Domain(domain)) if domain.contains('.') => ClientId::Domain(domain),
        Ok(url::Host::Ipv4(address)) => ClientId::Ipv4(address),
        Ok(url::Host::Ipv6(address)) => ClientId::Ipv6(address),
        _ => ClientId::default(),
    }
}

/// Why a message could not be handed over.
enum HandOverError {
    /// The server does not take addresses with such letters.
    Address,
    Smtp(SmtpError),
}

impl From<SmtpError> for HandOverError {
    fn from(error: SmtpError) -> Self {
        Self::Smtp(error)
    }
}

/// Hands a message over. `is_complete` is set just before its end is sent.
async fn hand_over(
    connection: &mut AsyncSmtpConnection,
    message: &Message,
    is_complete: &AtomicBool,
) -> Result<(), HandOverError> {
    let (envelope, raw) = (message.envelope(), message.formatted());
    let server = connection.server_info();
    let mut parameters = Vec::new();
    let mut addresses = envelope.from().into_iter().chain(envelope.to());
    if addresses.any(|address| !address.to_string().is_ascii()) {
        if !server.supports_feature(Extension::SmtpUtfEight) {
            return Err(HandOverError::Address);
        }
        parameters.push(MailParameter::SmtpUtfEight);
    }
    if !raw.is_ascii() && server.supports_feature(Extension::EightBitMime) {
        parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
    }
    connection
        .command(MailFrom::new(envelope.from().cloned(), parameters))
        .await?;
    for recipient in envelope.to() {
        connection
            .command(Rcpt::new(recipient.clone(), Vec::new()))
            .await?;
    }
    connection.command(Data).await?;
    // The iterator is asked for more when all of the text is written; then the end follows.
    let text = std::iter::once(raw.as_slice());
    let end = std::iter::from_fn(|| {
        is_complete.store(true, Ordering::Relaxed);
        None
    });
    connection.message_iter(text.chain(end)).await?;
    Ok(())
}

fn is_refusal(error: &MailError) -> bool {
    matches!(error.why, MessageFailure::MailServerAnswered { .. })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_greeted_with_the_domain_of_the_sender() {
        let said = |domain: &str| hello_name(domain).to_string();
        assert_eq!(said("mail.example.com"), "mail.example.com");
        assert_eq!(said("çiçek.example"), "xn--iek-1lab.example");
        assert_eq!(said("[192.0.2.7]"), "[127.0.0.1]");
        assert_eq!(said("192.0.2.7"), "[192.0.2.7]");
        assert_eq!(said("localhost"), "[127.0.0.1]");
    }

    #[test]
    fn mail_that_may_have_been_sent_outranks_other_errors() {
        let before = |is_temporary| MailError::before(MessageFailure::BadAddress, is_temporary);
        let unclear = MailError {
            is_unclear: true,
            ..before(false)
        };
        assert!(unclear.rank() > before(true).rank());
        assert!(before(true).rank() > before(false).rank());
    }
}
