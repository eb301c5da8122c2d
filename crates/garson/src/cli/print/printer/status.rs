//! Status bytes of ESC/POS printers.
//!
//! A printer answers `DLE EOT n` at once, even while it prints or is out of paper. It answers `GS r 1` when it has processed
//! everything before it: that is its acknowledgement of a ticket.

use super::condition::Condition;
use garson_core::printer::PrinterState;

/// Asks for the status of the printer, the cause of being offline, and the paper.
pub const QUERIES: [[u8; 3]; 3] = [[0x10, 0x04, 1], [0x10, 0x04, 2], [0x10, 0x04, 4]];
/// Asks for the paper status in the order of the data.
pub const ACKNOWLEDGE: [u8; 3] = [0x1d, b'r', 1];

/// Is the byte an answer to `DLE EOT`? Fixed bits tell it from the answer to `GS r`.
pub fn is_status(byte: u8) -> bool {
    byte & 0x93 == 0x12
}

/// Is the byte an answer to `GS r`?
pub fn is_acknowledgement(byte: u8) -> bool {
    byte & 0x90 == 0x00
}

/// What the three answers together say.
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

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!(bytes.iter().all(|byte| is_status(*byte)), "{bytes:x?}");
            assert_eq!(condition(bytes).state, state, "{bytes:x?}");
        }
    }

    #[test]
    fn answers_are_told_apart() {
        for acknowledgement in [0x00, 0x03, 0x0c, 0x0f] {
            assert!(is_acknowledgement(acknowledgement) && !is_status(acknowledgement));
        }
        assert!(!is_acknowledgement(0x12));
    }
}
