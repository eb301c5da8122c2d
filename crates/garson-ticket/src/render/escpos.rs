//! ESC/POS, the command language of receipt printers.
//!
//! Every byte of text goes through the printer's character set, which has no byte for control characters: text of an order
//! cannot command the printer.

use super::layout::{Line, Paper, Step, lay_out};
use crate::code_page::CodePage;
use crate::model::{Align, Emphasis, Size, Ticket};

const ESC: u8 = 0x1b;
const GS: u8 = 0x1d;
const FS: u8 = 0x1c;
const LF: u8 = b'\n';

/// Characters that a QR code may hold here: a link or an id.
const MAX_QR: usize = 600;

#[must_use]
pub fn render(ticket: &Ticket, page: CodePage) -> Vec<u8> {
    let columns = ticket.options.width.columns();
    let fit = |text: &str| page.set.fit(text);
    let paper = Paper {
        columns,
        has_sizes: true,
        fit: &fit,
    };
    let mut out = Writer {
        bytes: Vec::with_capacity(2_048),
        page,
    };
    out.start();
    for step in lay_out(ticket, &paper) {
        match step {
            Step::Line(line) => out.line(&line),
            Step::Rule => {
                out.text(&"-".repeat(columns));
                out.bytes.push(LF);
            }
            Step::Qr { data, caption } => out.qr(&data, &caption, columns),
        }
    }
    out.finish();
    out.bytes
}

struct Writer {
    bytes: Vec<u8>,
    page: CodePage,
}

impl Writer {
    /// Resets the printer, ends its mode for Chinese characters, stops it from sending its status unasked, which could be taken
    /// for an answer, and chooses the character set.
    fn start(&mut self) {
        self.bytes.extend([ESC, b'@', FS, b'.', GS, b'a', 0]);
        self.bytes.extend([ESC, b't', self.page.number]);
    }

    /// Feeds the last line past the knife and cuts.
    fn finish(&mut self) {
        self.bytes.extend([ESC, b'd', 3, GS, b'V', 66, 0]);
    }

    fn text(&mut self, text: &str) {
        self.bytes.extend(self.page.set.encode(text));
    }

    fn line(&mut self, line: &Line) {
        self.align(line.align);
        self.bytes.extend([
            GS,
            b'!',
            match line.size {
                Size::Normal => 0x00,
                Size::Tall => 0x01,
                Size::Large => 0x11,
            },
        ]);
        for run in &line.runs {
            match run.emphasis {
                Emphasis::None => self.text(&run.text),
                Emphasis::Strong => {
                    self.bytes.extend([ESC, b'E', 1]);
                    self.text(&run.text);
                    self.bytes.extend([ESC, b'E', 0]);
                }
                Emphasis::Warning => {
                    self.bytes.extend([ESC, b'E', 1, GS, b'B', 1]);
                    self.text(&run.text);
                    self.bytes.extend([GS, b'B', 0, ESC, b'E', 0]);
                }
            }
        }
        self.bytes.push(LF);
        if line.size != Size::Normal {
            self.bytes.extend([GS, b'!', 0]);
        }
        self.align(Align::Start);
    }

    fn align(&mut self, align: Align) {
        let code = match align {
            Align::Start => 0,
            Align::Centre => 1,
        };
        self.bytes.extend([ESC, b'a', code]);
    }

    /// A QR code of the printer itself, which it centres.
    fn qr(&mut self, data: &str, caption: &str, columns: usize) {
        let data: Vec<u8> = data.bytes().filter(u8::is_ascii_graphic).take(MAX_QR).collect();
        if data.is_empty() {
            return;
        }
        let dots = if columns < 40 { 4 } else { 5 };
        self.align(Align::Centre);
        self.qr_function(&[65, 50, 0]);
        self.qr_function(&[67, dots]);
        self.qr_function(&[69, 49]);
        self.qr_function(&[&[80, 48], data.as_slice()].concat());
        self.qr_function(&[81, 48]);
        self.text(caption);
        self.bytes.push(LF);
        self.align(Align::Start);
    }

    /// `GS ( k` with the length of what follows.
    fn qr_function(&mut self, arguments: &[u8]) {
        let length = u16::try_from(arguments.len() + 1).unwrap_or(u16::MAX);
        let [low, high] = length.to_le_bytes();
        self.bytes.extend([GS, b'(', b'k', low, high, 49]);
        self.bytes.extend(arguments);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_page::CharacterSet;
    use crate::model::{Block, Paragraph};
    use crate::options::{Kind, Lang, Options, Width};

    fn ticket(blocks: Vec<Block>) -> Ticket {
        let options = Options {
            kind: Kind::Kitchen,
            width: Width::Mm80,
            lang: Lang::Tr,
            copy: None,
        };
        Ticket {
            options,
            title: String::new(),
            blocks,
        }
    }

    #[test]
    fn a_ticket_begins_with_a_reset_and_ends_with_a_cut() {
        let bytes = render(&ticket(Vec::new()), CodePage::default());
        assert_eq!(bytes, b"\x1b@\x1c.\x1da\x00\x1bt\x0d\x1bd\x03\x1dV\x42\x00");
    }

    #[test]
    fn text_cannot_command_the_printer() {
        let hostile = "kes\x1dV\x00 \x1b@ \x10\x14\x01 \u{9b} \u{1b}p0";
        let text = Block::Text(Paragraph {
            // Past the cleaning of the model.
            runs: vec![crate::model::Run {
                text: hostile.to_owned(),
                emphasis: Emphasis::None,
            }],
            ..Paragraph::new("")
        });
        for set in CharacterSet::ALL {
            let bytes = render(&ticket(vec![text.clone()]), CodePage::of(*set));
            let cuts = bytes.windows(2).filter(|two| *two == b"\x1dV").count();
            let resets = bytes.windows(2).filter(|two| *two == b"\x1b@").count();
            assert_eq!((cuts, resets), (1, 1), "{bytes:?}");
            assert!(!bytes.contains(&0x10));
        }
    }

    #[test]
    fn a_qr_code_is_stored_and_printed() {
        let qr = Block::Qr {
            data: "A12".to_owned(),
            caption: "A12".to_owned(),
        };
        let bytes = render(&ticket(vec![qr]), CodePage::default());
        let stored = b"\x1d(k\x06\x001P0A12\x1d(k\x03\x001Q0";
        assert!(bytes.windows(stored.len()).any(|it| it == stored), "{bytes:?}");
    }
}
