//! Executes ESC/POS commands and draws what a printer would print. A command that it does not know fails the test.

use super::font::{CELL, is_black};
use super::image::Image;
use garson_ticket::code_page::CharacterSet;

/// Dots of the printer for each dot of the font.
const SCALE: usize = 2;
const CELL_WIDTH: usize = CELL.0 * SCALE;
const CELL_HEIGHT: usize = CELL.1 * SCALE;

/// A ticket that was cut off.
#[derive(Clone, Debug)]
pub struct PrintedTicket {
    pub text: String,
    pub codes: Vec<String>,
    pub image: Image,
}

#[derive(Clone, Copy)]
struct Style {
    set: CharacterSet,
    is_bold: bool,
    is_reverse: bool,
    width: usize,
    height: usize,
    is_centred: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            set: CharacterSet::Ascii,
            is_bold: false,
            is_reverse: false,
            width: 1,
            height: 1,
            is_centred: false,
        }
    }
}

/// What a printer has drawn and has yet to draw.
pub struct Paper {
    columns: usize,
    style: Style,
    line: Vec<(char, Style)>,
    text: String,
    codes: Vec<String>,
    stored_code: String,
    module: usize,
    image: Image,
    input: Vec<u8>,
    pub tickets: Vec<PrintedTicket>,
}

/// What happened when a command was executed.
pub enum Executed {
    Something,
    /// `GS r`: the printer answers.
    Asked,
    /// The next command is not complete.
    Nothing,
}

impl Paper {
    pub fn new(columns: usize) -> Self {
        Self {
            columns,
            style: Style::default(),
            line: Vec::new(),
            text: String::new(),
            codes: Vec::new(),
            stored_code: String::new(),
            module: 3,
            image: Image::new(columns * CELL_WIDTH),
            input: Vec::new(),
            tickets: Vec::new(),
        }
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// A new connection begins with an empty buffer; what is on the paper stays.
    pub fn forget_input(&mut self) {
        self.input.clear();
        self.line.clear();
    }

    /// Executes the next command.
    pub fn step(&mut self) -> Executed {
        let input = std::mem::take(&mut self.input);
        let (used, executed) = self.execute(&input);
        self.input = input[used..].to_vec();
        if used == 0 { Executed::Nothing } else { executed }
    }

    fn execute(&mut self, input: &[u8]) -> (usize, Executed) {
        let used = match input {
            [b'\n', ..] => {
                self.end_line();
                1
            }
            [0x1b, b'@', ..] => {
                self.style = Style::default();
                self.line.clear();
                2
            }
            [0x1c, b'.', ..] => 2,
            [0x1d, b'a', 0, ..] => 3,
            [0x1b, b't', number, ..] => {
                self.style.set = match number {
                    13 => CharacterSet::Pc857,
                    48 => CharacterSet::Wpc1254,
                    0 => CharacterSet::Ascii,
                    other => panic!("code page {other}"),
                };
                3
            }
            [0x1b, b'E', n, ..] => {
                self.style.is_bold = n & 1 == 1;
                3
            }
            [0x1d, b'B', n, ..] => {
                self.style.is_reverse = n & 1 == 1;
                3
            }
            [0x1d, b'!', n, ..] => {
                self.style.width = usize::from(n >> 4) + 1;
                self.style.height = usize::from(n & 7) + 1;
                3
            }
            [0x1b, b'a', n, ..] => {
                self.style.is_centred = *n == 1;
                3
            }
            [0x1b, b'd', n, ..] => {
                self.image.add_rows(usize::from(*n) * CELL_HEIGHT);
                3
            }
            [0x1d, b'V', 66, _, ..] => {
                self.cut();
                4
            }
            [0x1d, b'r', 1, ..] => return (3, Executed::Asked),
            [0x1d, b'(', b'k', low, high, ..] => {
                let length = usize::from(u16::from_le_bytes([*low, *high]));
                match input.get(5..5 + length) {
                    Some(arguments) => {
                        self.qr(arguments);
                        5 + length
                    }
                    None => 0,
                }
            }
            [0x1b..=0x1d, ..] if input.len() < 5 => 0,
            [byte @ 0x20..=0xff, ..] if *byte != 0x7f => {
                let c = self.style.set.decode(*byte).unwrap_or('\u{fffd}');
                self.line.push((c, self.style));
                1
            }
            [] => 0,
            other => panic!(
                "the printer got a command that no ticket needs: {:x?}",
                &other[..other.len().min(8)]
            ),
        };
        (used, Executed::Something)
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text: String = line.iter().map(|(c, _)| c).collect();
        let columns: usize = line.iter().map(|(_, style)| style.width).sum();
        assert!(columns <= self.columns, "too wide: {text}");
        self.text.push_str(text.trim_end());
        self.text.push('\n');
        let height = line.iter().map(|(_, style)| style.height).max().unwrap_or(1);
        let top = self.image.add_rows(height * CELL_HEIGHT);
        let is_centred = line.first().is_some_and(|(_, style)| style.is_centred);
        let mut column = if is_centred {
            (self.columns - columns) * CELL_WIDTH / 2
        } else {
            0
        };
        for (c, style) in line {
            let baseline = top + (height - style.height) * CELL_HEIGHT;
            self.draw(c, style, column, baseline);
            column += style.width * CELL_WIDTH;
        }
    }

    fn draw(&mut self, c: char, style: Style, left: usize, top: usize) {
        for y in 0..CELL_HEIGHT * style.height {
            for x in 0..CELL_WIDTH * style.width {
                let dot = |x: usize| is_black(c, x / SCALE / style.width, y / SCALE / style.height);
                let is_set = dot(x) || (style.is_bold && x > 0 && dot(x - 1));
                self.image.set(left + x, top + y, is_set != style.is_reverse);
            }
        }
    }

    fn qr(&mut self, arguments: &[u8]) {
        match arguments {
            [49, 65, 50, 0] | [49, 69, 49] => {}
            [49, 67, dots] => self.module = usize::from(*dots),
            [49, 80, 48, data @ ..] => self.stored_code = String::from_utf8(data.to_vec()).unwrap(),
            [49, 81, 48] => {
                self.codes.push(self.stored_code.clone());
                let code =
                    qrcodegen::QrCode::encode_text(&self.stored_code, qrcodegen::QrCodeEcc::Medium).unwrap();
                let size = usize::try_from(code.size()).unwrap();
                let top = self.image.add_rows(size * self.module + 8);
                let left = (self.image.width - size * self.module) / 2;
                for y in 0..size * self.module {
                    for x in 0..size * self.module {
                        let at = |dot: usize| i32::try_from(dot / self.module).unwrap();
                        self.image.set(left + x, top + y, code.get_module(at(x), at(y)));
                    }
                }
            }
            other => panic!("QR function {other:x?}"),
        }
    }

    fn cut(&mut self) {
        let image = std::mem::replace(&mut self.image, Image::new(self.columns * CELL_WIDTH));
        self.tickets.push(PrintedTicket {
            text: std::mem::take(&mut self.text),
            codes: std::mem::take(&mut self.codes),
            image,
        });
    }
}
