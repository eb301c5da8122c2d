//! Outgoing HTTP: every request that the service sends goes through [`Client`], which resolves, checks and connects.

mod certificates;
pub mod client;
pub mod client_address;
mod connection;
mod explain;
pub mod guard;
mod header_case;
pub mod headers;
mod idle_pool;
mod openid;
mod outgoing;
mod pool;
pub mod resolve;
mod sent;
mod smtp;
mod stream;
pub mod write_hook;

pub use certificates::Certificates;
pub use client::Client;
pub use header_case::HeaderCase;
pub use openid::{Attempt, Identity, OpenIdError, OpenIdProvider, OpenIdSettings, is_on_this_machine};
pub use outgoing::{Log, Outgoing};
pub use sent::{Answer, SendError, Sent, Stage, Timing};
pub use smtp::{Mail, MailError, MailServer, MailTls, SmtpSettings};
pub use stream::ByteStream;
