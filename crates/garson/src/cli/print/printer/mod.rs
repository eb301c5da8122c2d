//! Printers: how a ticket reaches one, and what is known of its condition.

mod condition;
mod spool;
mod status;
mod tcp;

pub use condition::{Condition, PrintError};

use condition::Observer;
use std::fmt;
use std::path::PathBuf;
use tokio::sync::Mutex;

/// Where a printer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrinterAddress {
    /// Host and port.
    Tcp(String),
    Device(PathBuf),
    /// The name of a queue of the system's print service.
    Cups(String),
}

impl PrinterAddress {
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(host) = text.strip_prefix("tcp://") {
            let host = host.trim_end_matches('/');
            let is_valid = match host.rsplit_once(':') {
                Some((name, port)) => !name.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0),
                None => false,
            };
            return if is_valid {
                Ok(Self::Tcp(host.to_owned()))
            } else {
                Err("must name host and port, such as tcp://192.168.1.50:9100".to_owned())
            };
        }
        if let Some(name) = text.strip_prefix("cups:") {
            let is_name = |c: char| c.is_alphanumeric() || "-_.".contains(c);
            let is_valid =
                name.chars().all(is_name) && name.chars().next().is_some_and(char::is_alphanumeric);
            return if is_valid {
                Ok(Self::Cups(name.to_owned()))
            } else {
                Err("must name a queue, such as cups:Mutfak".to_owned())
            };
        }
        if text.starts_with('/') {
            return Ok(Self::Device(PathBuf::from(text)));
        }
        Err("must be tcp://HOST:PORT, a device such as /dev/usb/lp0, or cups:NAME".to_owned())
    }
}

impl fmt::Display for PrinterAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host) => write!(f, "tcp://{host}"),
            Self::Device(path) => path.display().fmt(f),
            Self::Cups(name) => write!(f, "cups:{name}"),
        }
    }
}

pub struct Printer {
    address: PrinterAddress,
    /// A network printer takes one connection at a time.
    memory: Mutex<tcp::Memory>,
}

impl Printer {
    /// A printer that is known to answer queries has a problem when it does not.
    pub fn new(address: PrinterAddress, answers: bool) -> Self {
        Self {
            address,
            memory: Mutex::new(tcp::Memory::new(answers)),
        }
    }

    /// Whether it has ever answered a query.
    pub async fn answers(&self) -> bool {
        self.memory.lock().await.answers()
    }

    /// Prints a ticket; returns when the printer has accepted it, as far as it says so.
    pub async fn print(&self, ticket: Vec<u8>, observer: &Observer<'_>) -> Result<(), PrintError> {
        let mut memory = self.memory.lock().await;
        match &self.address {
            PrinterAddress::Tcp(host) => tcp::print(host, &ticket, &mut memory, observer).await,
            PrinterAddress::Device(path) => spool::write_device(path.clone(), ticket, observer).await,
            PrinterAddress::Cups(name) => spool::queue(name.clone(), ticket, observer).await,
        }
    }

    /// Looks whether the printer could print now.
    pub async fn check(&self) -> Condition {
        let mut memory = self.memory.lock().await;
        match &self.address {
            PrinterAddress::Tcp(host) => tcp::check(host, &mut memory).await,
            PrinterAddress::Device(path) => spool::check_device(path),
            // The print service takes tickets whether the printer is on or off.
            PrinterAddress::Cups(_) => Condition::default(),
        }
    }
}

impl fmt::Display for Printer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        for (text, wanted) in [
            (
                "tcp://192.168.1.50:9100",
                PrinterAddress::Tcp("192.168.1.50:9100".to_owned()),
            ),
            ("tcp://[::1]:9100/", PrinterAddress::Tcp("[::1]:9100".to_owned())),
            ("/dev/usb/lp0", PrinterAddress::Device("/dev/usb/lp0".into())),
            ("cups:Mutfak-1", PrinterAddress::Cups("Mutfak-1".to_owned())),
        ] {
            assert_eq!(PrinterAddress::parse(text), Ok(wanted));
        }
        for wrong in [
            "",
            "192.168.1.50:9100",
            "tcp://printer",
            "tcp://:9100",
            "tcp://a:0",
            "cups:",
            "cups:-o raw",
            "lp0",
        ] {
            assert!(PrinterAddress::parse(wrong).is_err(), "{wrong}");
        }
    }
}
