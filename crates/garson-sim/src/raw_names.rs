//! The names of a request's headers as they were on the wire: hyper shows them in lower case only, and some gateways mind.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::AsyncRead;
use tokio_util::io::InspectReader;

const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// The header names of the current request as they were spelled. A client sends the next request only after the answer, so
/// there is one at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawNames(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    bytes: Vec<u8>,
    is_whole: bool,
}

impl RawNames {
    /// The names in the head that has been read.
    pub(crate) fn names(&self) -> Vec<String> {
        let seen = self.lock();
        let head = String::from_utf8_lossy(&seen.bytes);
        let head = head.split("\r\n\r\n").next().unwrap_or_default();
        head.lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .map(|(name, _)| name.to_owned())
            .collect()
    }

    /// The request has been read; what comes now is the next one's head.
    pub(crate) fn next(&self) {
        *self.lock() = Seen::default();
    }

    fn see(&self, bytes: &[u8]) {
        let mut seen = self.lock();
        if !seen.is_whole {
            let from = seen.bytes.len().saturating_sub(END_OF_HEAD.len() - 1);
            seen.bytes.extend_from_slice(bytes);
            let rest = seen.bytes.get(from..).unwrap_or_default();
            seen.is_whole = rest
                .windows(END_OF_HEAD.len())
                .any(|window| window == END_OF_HEAD);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream whose requests' heads are remembered.
pub(crate) fn remembering<S: AsyncRead>(stream: S, names: RawNames) -> InspectReader<S, impl FnMut(&[u8])> {
    InspectReader::new(stream, move |bytes: &[u8]| names.see(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_the_head_is_cut() {
        let request = b"POST /a HTTP/1.1\r\nHost: x\r\nXApiKey: a:b\r\n\r\nxapikey: 1\r\n\r\nY: 2";
        for size in 1..request.len() {
            let names = RawNames::default();
            for piece in request.chunks(size) {
                names.see(piece);
            }
            assert_eq!(names.names(), ["Host", "XApiKey"]);
            names.next();
            assert!(names.names().is_empty());
        }
    }
}
