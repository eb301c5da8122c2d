//! What ESC/POS printers say.
//!
//! A printer answers `DLE EOT n` at once, even while it prints or is out of paper. It answers `GS r 1` when it has processed
//! everything before it: that is its acknowledgement of a ticket. A printer that is set to do so also sends four bytes unasked
//! whenever its status changes (automatic status back). Fixed bits tell these apart, except that the last three bytes of such
//! a block look like an acknowledgement: bytes only have a meaning in the order in which they come.

use super::condition::Condition;
use garson_core::printer::PrinterState;

/// Asks for the status of the printer, the cause of being offline, and the paper.
pub const QUERIES: [[u8; 3]; 3] = [[0x10, 0x04, 1], [0x10, 0x04, 2], [0x10, 0x04, 4]];
/// Asks for the paper status in the order of the data.
pub const ACKNOWLEDGE: [u8; 3] = [0x1d, b'r', 1];

/// What a byte completes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// An answer to `DLE EOT`.
    Status(u8),
    /// An answer to `GS r`.
    Acknowledgement,
    /// A block that the printer sent unasked.
    Automatic(Condition),
}

/// Reads the bytes of one connection.
#[derive(Default)]
pub struct StatusParser {
    /// The part of a block that has come.
    block: Vec<u8>,
}

impl StatusParser {
    /// Takes the next byte; `None` when it completes nothing, or means nothing here (flow control).
    pub fn take(&mut self, byte: u8) -> Option<Received> {
        if byte & 0x93 == 0x12 {
            // It is sent at once, perhaps within a block.
            return Some(Received::Status(byte));
        }
        if byte & 0x93 == 0x10 {
            self.block = vec![byte];
            return None;
        }
        if byte & 0x90 != 0 {
            return None;
        }
        if self.block.is_empty() {
            return Some(Received::Acknowledgement);
        }
        self.block.push(byte);
        let complete = <[u8; 4]>::try_from(self.block.as_slice()).ok()?;
        self.block.clear();
        Some(Received::Automatic(automatic_condition(complete)))
    }
}

/// What the three answers to `DLE EOT` together say.
pub fn condition([printer, offline, paper]: [u8; 3]) -> Condition {
    let state = if offline & 0x04 != 0 {
        PrinterState::CoverOpen
    } else if paper & 0x60 != 0 || offline & 0x20 != 0 {
        PrinterState::NoPaper
    } else if offline & 0x40 != 0 {
        PrinterState::Fault
    } else if printer & 0x08 != 0 {
        PrinterState::Offline
    } else if paper & 0x0c != 0 {
        PrinterState::PaperLow
    } else {
        PrinterState::Ready
    };
    Condition::of(state)
}

/// What a block says that the printer sent unasked.
fn automatic_condition([printer, fault, paper, _]: [u8; 4]) -> Condition {
    let state = if printer & 0x20 != 0 {
        PrinterState::CoverOpen
    } else if paper & 0x0c != 0 {
        PrinterState::NoPaper
    } else if fault & 0x6c != 0 {
        PrinterState::Fault
    } else if printer & 0x08 != 0 {
        PrinterState::Offline
    } else if paper & 0x03 != 0 {
        PrinterState::PaperLow
    } else {
        PrinterState::Ready
    };
    Condition::of(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(bytes: &[u8]) -> Vec<Received> {
        let mut parser = StatusParser::default();
        bytes.iter().filter_map(|byte| parser.take(*byte)).collect()
    }

    fn automatic(state: PrinterState) -> Received {
        Received::Automatic(Condition::of(state))
    }

    #[test]
    fn status_bytes_are_read() {
        for (bytes, state) in [
            ([0x12, 0x12, 0x12], PrinterState::Ready),
            ([0x12, 0x12, 0x1e], PrinterState::PaperLow),
            ([0x1a, 0x32, 0x72], PrinterState::NoPaper),
            ([0x1a, 0x16, 0x12], PrinterState::CoverOpen),
            ([0x1a, 0x52, 0x12], PrinterState::Fault),
            ([0x1a, 0x12, 0x12], PrinterState::Offline),
        ] {
            assert_eq!(received(&bytes), bytes.map(Received::Status));
            assert_eq!(condition(bytes).state, state, "{bytes:x?}");
        }
    }

    #[test]
    fn acknowledgements_are_read() {
        for byte in [0x00, 0x03, 0x0c, 0x0f] {
            assert_eq!(received(&[byte]), [Received::Acknowledgement]);
        }
        // Flow control, and bytes that no printer sends here.
        assert_eq!(received(&[0x11, 0x13, 0x80, 0xff]), []);
    }

    #[test]
    fn status_that_is_sent_unasked_acknowledges_nothing() {
        for (block, state) in [
            ([0x10, 0x00, 0x00, 0x0f], PrinterState::Ready),
            ([0x14, 0x00, 0x03, 0x0f], PrinterState::PaperLow),
            ([0x3c, 0x00, 0x0c, 0x0f], PrinterState::CoverOpen),
            ([0x18, 0x00, 0x0f, 0x00], PrinterState::NoPaper),
            ([0x18, 0x08, 0x00, 0x00], PrinterState::Fault),
            ([0x58, 0x00, 0x00, 0x0f], PrinterState::Offline),
        ] {
            assert_eq!(received(&block), [automatic(state)], "{block:x?}");
        }
        // An incomplete block is none yet.
        assert_eq!(received(&[0x3c, 0x00, 0x0c]), []);
        // Answers between, within and after blocks.
        assert_eq!(
            received(&[0x18, 0x00, 0x12, 0x0c, 0x0f, 0x10, 0x00, 0x00, 0x0f, 0x00]),
            [
                Received::Status(0x12),
                automatic(PrinterState::NoPaper),
                automatic(PrinterState::Ready),
                Received::Acknowledgement,
            ]
        );
    }
}
