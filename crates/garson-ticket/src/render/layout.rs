//! Breaks a ticket into lines of fixed width, by words.

use crate::model::{Align, Block, Emphasis, Paragraph, Run, Size, Ticket};

/// One step down the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Line(Line),
    Rule,
    Qr { data: String, caption: String },
}

/// A line that fits the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub runs: Vec<Run>,
    pub size: Size,
    pub align: Align,
}

/// The paper and how it is printed on.
pub struct Paper<'a> {
    pub columns: usize,
    /// Large characters take two columns.
    pub has_sizes: bool,
    /// Replaces what the paper cannot show.
    pub fit: &'a dyn Fn(&str) -> String,
}

type Cell = (char, Emphasis);

/// Lines after the first of a paragraph are indented by this.
const HANGING: usize = 2;
/// With less room beside it, an amount gets a line of its own.
const MIN_LEFT: usize = 8;

#[must_use]
pub fn lay_out(ticket: &Ticket, paper: &Paper<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    for block in &ticket.blocks {
        match block {
            Block::Text(paragraph) => paper.add_paragraph(&mut steps, paragraph),
            Block::Pair {
                left,
                right,
                size,
                indent,
            } => paper.add_pair(&mut steps, left, right, *size, *indent),
            Block::Rule => steps.push(Step::Rule),
            Block::Qr { data, caption } => steps.push(Step::Qr {
                data: data.clone(),
                caption: (paper.fit)(caption),
            }),
        }
    }
    steps
}

impl Paper<'_> {
    fn columns_of(&self, size: Size) -> usize {
        if self.has_sizes && size == Size::Large {
            (self.columns / 2).max(1)
        } else {
            self.columns
        }
    }

    fn cells(&self, runs: &[Run]) -> Vec<Cell> {
        let cells = runs.iter().flat_map(|run| {
            let text = (self.fit)(&run.text);
            text.chars().map(|c| (c, run.emphasis)).collect::<Vec<_>>()
        });
        cells.collect()
    }

    fn add_paragraph(&self, steps: &mut Vec<Step>, paragraph: &Paragraph) {
        let cells = self.cells(&paragraph.runs);
        let mut size = paragraph.size;
        // A code is not broken: it is printed narrower.
        if size == Size::Large && longest_word(&cells) > self.columns_of(size) {
            size = Size::Tall;
        }
        let columns = self.columns_of(size);
        let (indent, hanging) = match paragraph.align {
            Align::Start => {
                let indent = (usize::from(paragraph.indent) * 2).min(columns / 2);
                (indent, (indent + HANGING).min(columns / 2))
            }
            Align::Centre => (0, 0),
        };
        for (number, line) in wrap(&cells, columns - indent, columns - hanging)
            .into_iter()
            .enumerate()
        {
            let spaces = if number == 0 { indent } else { hanging };
            steps.push(Step::Line(Line {
                runs: runs(spaces, &line),
                size,
                align: paragraph.align,
            }));
        }
    }

    /// The text at the left in as many lines as it needs, the amount at the right of the last one.
    fn add_pair(&self, steps: &mut Vec<Step>, left: &str, right: &str, size: Size, indent: u8) {
        let columns = self.columns_of(size);
        let emphasis = if size == Size::Normal {
            Emphasis::None
        } else {
            Emphasis::Strong
        };
        let cells = |text: &str| -> Vec<Cell> { (self.fit)(text).chars().map(|c| (c, emphasis)).collect() };
        let right: Vec<Cell> = cells(right).into_iter().take(columns).collect();
        let indent = (usize::from(indent) * 2).min(columns / 2);
        let beside = columns.saturating_sub(indent + width(&right) + 1);
        let is_beside = beside >= MIN_LEFT;
        let room = if is_beside { beside } else { columns - indent };
        let mut lines = wrap(&cells(left), room, room - HANGING);
        if !is_beside {
            lines.push(Vec::new());
        }
        let last = lines.len().saturating_sub(1);
        for (number, mut line) in lines.into_iter().enumerate() {
            let spaces = indent + if number == 0 { 0 } else { HANGING };
            let spaces = spaces.min(columns.saturating_sub(width(&right)));
            if number == last {
                let used = spaces + width(&line) + width(&right);
                line.extend(std::iter::repeat_n((' ', emphasis), columns.saturating_sub(used)));
                line.extend(&right);
            }
            steps.push(Step::Line(Line {
                runs: runs(spaces, &line),
                size,
                align: Align::Start,
            }));
        }
    }
}

/// Breaks cells into lines: between words, or within one that is longer than a line.
fn wrap(cells: &[Cell], first: usize, further: usize) -> Vec<Vec<Cell>> {
    let mut lines: Vec<Vec<Cell>> = vec![Vec::new()];
    let mut used = 0;
    for word in cells.split(|(c, _)| *c == ' ').filter(|word| !word.is_empty()) {
        let columns = if lines.len() == 1 { first } else { further };
        let is_start = used == 0;
        if !is_start && used + 1 + width(word) > columns {
            lines.push(Vec::new());
            used = 0;
        } else if !is_start {
            push(&mut lines, (' ', Emphasis::None));
            used += 1;
        }
        for cell in word {
            let columns = if lines.len() == 1 { first } else { further };
            if used + cell_width(cell.0) > columns {
                lines.push(Vec::new());
                used = 0;
            }
            push(&mut lines, *cell);
            used += cell_width(cell.0);
        }
    }
    lines
}

fn push(lines: &mut [Vec<Cell>], cell: Cell) {
    if let Some(line) = lines.last_mut() {
        line.push(cell);
    }
}

fn longest_word(cells: &[Cell]) -> usize {
    cells.split(|(c, _)| *c == ' ').map(width).max().unwrap_or(0)
}

fn width(cells: &[Cell]) -> usize {
    cells.iter().map(|(c, _)| cell_width(*c)).sum()
}

/// Columns of a character: none for marks above others, two for emoji and East Asian characters.
fn cell_width(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// Joins cells of the same emphasis, after some spaces.
fn runs(spaces: usize, line: &[Cell]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let before = std::iter::repeat_n((' ', Emphasis::None), spaces);
    for (c, emphasis) in before.chain(line.iter().copied()) {
        match runs.last_mut() {
            Some(run) if run.emphasis == emphasis => run.text.push(c),
            _ => runs.push(Run {
                text: c.to_string(),
                emphasis,
            }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Kind, Lang, Options, Width};
    use proptest::prelude::*;

    fn lines(blocks: Vec<Block>, columns: usize, has_sizes: bool) -> Vec<String> {
        let options = Options {
            kind: Kind::Kitchen,
            width: Width::Mm58,
            lang: Lang::Tr,
            copy: None,
        };
        let ticket = Ticket {
            options,
            title: String::new(),
            blocks,
        };
        let paper = Paper {
            columns,
            has_sizes,
            fit: &str::to_owned,
        };
        let text = |step| match step {
            Step::Line(line) => line.runs.iter().map(|run| run.text.as_str()).collect(),
            other => format!("{other:?}"),
        };
        lay_out(&ticket, &paper).into_iter().map(text).collect()
    }

    #[test]
    fn lines_break_between_words_and_hang() {
        let text = Block::Text(Paragraph::new("2 x Karışık pizza büyük boy"));
        assert_eq!(
            lines(vec![text], 16, false),
            ["2 x Karışık", "  pizza büyük", "  boy"]
        );
    }

    #[test]
    fn a_word_longer_than_a_line_is_broken() {
        let text = Block::Text(Paragraph::new("abcdefghij"));
        assert_eq!(lines(vec![text], 6, false), ["abcdef", "  ghij"]);
    }

    #[test]
    fn the_amount_stands_at_the_right_edge_of_the_last_line() {
        let pair = Block::Pair {
            left: "2 x Adana dürüm acılı".to_owned(),
            right: "360,00".to_owned(),
            size: Size::Normal,
            indent: 0,
        };
        let lines = lines(vec![pair], 20, false);
        assert_eq!(lines, ["2 x Adana", "  dürüm acılı 360,00"]);
    }

    #[test]
    fn a_long_code_is_printed_narrower_instead_of_broken() {
        let code = Block::Text(Paragraph::strong("948123456789").sized(Size::Large));
        assert_eq!(lines(vec![code], 20, true), ["948123456789"]);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_paper_and_no_character_is_lost(
            text in "\\PC{0,200}", right in "[0-9.,]{0,12}", indent in 0u8..9, columns in 16usize..60,
        ) {
            let blocks = vec![
                Block::Text(Paragraph::new(&text).indented(indent)),
                Block::Pair { left: crate::clean::clean(&text), right: right.clone(), size: Size::Normal, indent },
            ];
            let printed = lines(blocks, columns, true);
            for line in &printed {
                let cells: Vec<Cell> = line.chars().map(|c| (c, Emphasis::None)).collect();
                prop_assert!(width(&cells) <= columns, "{line:?}");
            }
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').count();
            let expected = 2 * letters(&crate::clean::clean(&text)) + letters(&right);
            // An empty paragraph is a line of its own.
            prop_assert_eq!(printed.iter().map(|line| letters(line)).sum::<usize>(), expected);
        }
    }
}
