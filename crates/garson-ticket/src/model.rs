//! The model of a ticket: blocks from top to bottom, independent of paper and format.

use crate::clean::clean;
use crate::options::Options;
use garson_core::allergy_words;

/// A ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub options: Options,
    /// Names it in a browser: `Mutfak fişi A12`.
    pub title: String,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Text(Paragraph),
    /// A text and an amount at the other edge.
    Pair {
        left: String,
        right: String,
        size: Size,
        indent: u8,
    },
    Rule,
    /// A QR code with a line of text below it.
    Qr {
        data: String,
        caption: String,
    },
}

/// A text that is broken into lines by words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paragraph {
    pub runs: Vec<Run>,
    pub size: Size,
    pub align: Align,
    /// In steps of two characters.
    pub indent: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub text: String,
    pub emphasis: Emphasis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emphasis {
    None,
    Strong,
    /// Must not be overlooked: white on black.
    Warning,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Normal,
    /// Twice as high.
    Tall,
    /// Twice as high and wide.
    Large,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Start,
    Centre,
}

impl Paragraph {
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self::of_runs(vec![Run::new(text, Emphasis::None)])
    }

    #[must_use]
    pub fn strong(text: &str) -> Self {
        Self::of_runs(vec![Run::new(text, Emphasis::Strong)])
    }

    #[must_use]
    pub fn warning(text: &str) -> Self {
        Self::of_runs(vec![Run::new(text, Emphasis::Warning)])
    }

    #[must_use]
    pub fn of_runs(runs: Vec<Run>) -> Self {
        Self {
            runs,
            size: Size::Normal,
            align: Align::Start,
            indent: 0,
        }
    }

    /// A label and a note of the customer, in which allergy words are emphasised.
    #[must_use]
    pub fn note(label: &str, text: &str) -> Self {
        let mut runs = vec![Run::new(&format!("{label}: "), Emphasis::Strong)];
        let text = clean(text);
        runs.extend(allergy_words::segments(&text).into_iter().map(|part| Run {
            text: part.text.to_owned(),
            emphasis: if part.is_marked {
                Emphasis::Warning
            } else {
                Emphasis::Strong
            },
        }));
        Self::of_runs(runs)
    }

    /// A label in plain and its value in bold.
    #[must_use]
    pub fn fact(label: &str, value: &str) -> Self {
        Self::of_runs(vec![
            Run::new(&format!("{label}: "), Emphasis::None),
            Run::new(value, Emphasis::Strong),
        ])
    }

    #[must_use]
    pub fn sized(mut self, size: Size) -> Self {
        self.size = size;
        self
    }

    #[must_use]
    pub fn centred(mut self) -> Self {
        self.align = Align::Centre;
        self
    }

    #[must_use]
    pub fn indented(mut self, indent: u8) -> Self {
        self.indent = indent;
        self
    }
}

impl Run {
    /// Text from outside loses its control characters here. A space at the end of a label stays.
    #[must_use]
    pub fn new(text: &str, emphasis: Emphasis) -> Self {
        let mut cleaned = clean(text);
        if text.ends_with(' ') {
            cleaned.push(' ');
        }
        Self {
            text: cleaned,
            emphasis,
        }
    }
}

/// Collects the blocks of a ticket.
#[derive(Default)]
pub struct Blocks(pub Vec<Block>);

impl Blocks {
    pub fn add(&mut self, paragraph: Paragraph) {
        if paragraph.runs.iter().any(|run| !run.text.trim().is_empty()) {
            self.0.push(Block::Text(paragraph));
        }
    }

    /// A label with a value, if there is one.
    pub fn add_fact(&mut self, label: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !clean(value).is_empty()) {
            self.add(Paragraph::fact(label, value));
        }
    }

    pub fn add_pair(&mut self, left: &str, right: &str, size: Size, indent: u8) {
        self.0.push(Block::Pair {
            left: clean(left),
            right: clean(right),
            size,
            indent,
        });
    }

    /// A line across, unless there is one already.
    pub fn add_rule(&mut self) {
        if !matches!(self.0.last(), None | Some(Block::Rule)) {
            self.0.push(Block::Rule);
        }
    }

    pub fn add_qr(&mut self, data: &str, caption: &str) {
        self.0.push(Block::Qr {
            data: clean(data).replace(' ', "%20"),
            caption: clean(caption),
        });
    }
}
