//! What commands print: text for people, or with `--json` the same for programs.

use super::command::print_line;
use clap::Args;
use serde_json::Value;
use std::fmt::Display;

#[derive(Args, Clone, Copy)]
pub struct Output {
    /// Print JSON; a list as one object per line
    #[arg(long)]
    json: bool,
}

impl Output {
    pub fn of(json: bool) -> Self {
        Self { json }
    }

    /// Prints a result.
    pub fn result(self, text: impl Display, value: &Value) {
        if self.json {
            print_line(&value.to_string());
        } else {
            print_line(&text.to_string());
        }
    }

    /// Prints what only people read.
    pub fn remark(self, text: impl Display) {
        if !self.json {
            print_line(&text.to_string());
        }
    }

    /// Prints what people need before the result, also when the result is JSON.
    pub fn notice(self, text: impl Display) {
        if self.json {
            eprintln!("{text}");
        } else {
            print_line(&text.to_string());
        }
    }

    /// Prints what only programs read.
    pub fn json(self, value: &Value) {
        if self.json {
            print_line(&value.to_string());
        }
    }

    /// A list, which is printed row by row as JSON, otherwise as a table at its end.
    pub fn list<const N: usize>(self, columns: [&'static str; N]) -> List<N> {
        List {
            is_json: self.json,
            columns,
            rows: Vec::new(),
        }
    }
}

/// Rows that are aligned together; a longer list is printed in several parts.
const ROWS: usize = 1_000;

/// A list that is printed when it is dropped.
pub struct List<const N: usize> {
    is_json: bool,
    columns: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> List<N> {
    pub fn row(&mut self, cells: [String; N], value: &Value) {
        if self.is_json {
            return print_line(&value.to_string());
        }
        self.rows.push(cells.map(|cell| plain(&cell)));
        if self.rows.len() >= ROWS {
            self.print();
        }
    }

    fn print(&mut self) {
        if !self.rows.is_empty() {
            print_line(&table(self.columns, &self.rows));
            self.rows.clear();
        }
    }
}

impl<const N: usize> Drop for List<N> {
    fn drop(&mut self) {
        self.print();
    }
}

/// What others have written must not draw on the operator's terminal.
fn plain(cell: &str) -> String {
    let cell: String = cell
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if cell.is_empty() { "-".to_owned() } else { cell }
}

/// Columns as wide as their widest cell, with their names above.
fn table<const N: usize>(columns: [&'static str; N], rows: &[[String; N]]) -> String {
    let head = columns.map(str::to_uppercase);
    let width = |at: usize| {
        let cells = rows.iter().chain([&head]).filter_map(|row| row.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let lines = [&head].into_iter().chain(rows).map(|row| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let row = |cells: [&str; 3]| cells.map(plain);
        let rows = [
            row(["1", "Köfteci Yusuf", ""]),
            row(["12345", "A", "x\x1b[2Jy\nz"]),
        ];
        assert_eq!(
            table(["id", "name", "state"], &rows),
            "ID     NAME           STATE\n1      Köfteci Yusuf  -\n12345  A              x [2Jy z"
        );
    }
}
