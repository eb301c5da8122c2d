//! Plain text in UTF-8: 32 columns for 58 mm, 48 for 80 mm, 80 for A4.

use super::layout::{Line, Paper, Step, lay_out};
use crate::model::{Align, Emphasis, Ticket};

#[must_use]
pub fn render(ticket: &Ticket) -> String {
    let columns = ticket.options.width.columns();
    let paper = Paper {
        columns,
        has_sizes: false,
        // Words that must not be overlooked are marked below, which needs no column of its own.
        fit: &str::to_owned,
    };
    let mut out = String::new();
    for step in lay_out(ticket, &paper) {
        match step {
            Step::Line(line) => push_line(&mut out, &line, columns),
            Step::Rule => out.push_str(&"-".repeat(columns)),
            Step::Qr { .. } => continue,
        }
        out.push('\n');
    }
    out
}

fn push_line(out: &mut String, line: &Line, columns: usize) {
    let length: usize = line.runs.iter().map(|run| run.text.chars().count()).sum();
    if line.align == Align::Centre {
        out.push_str(&" ".repeat(columns.saturating_sub(length) / 2));
    }
    let start = out.len();
    for run in &line.runs {
        if run.emphasis == Emphasis::Warning {
            out.push_str(&upper(&run.text));
        } else {
            out.push_str(&run.text);
        }
    }
    let end = out.trim_end_matches(' ').len().max(start);
    out.truncate(end);
}

/// Capitals by the rules of Turkish, one for each letter.
fn upper(text: &str) -> String {
    let capital = |c: char| match c {
        'i' => 'İ',
        'ı' => 'I',
        c => {
            let mut capitals = c.to_uppercase();
            match (capitals.next(), capitals.next()) {
                (Some(capital), None) => capital,
                _ => c,
            }
        }
    };
    text.chars().map(capital).collect()
}
