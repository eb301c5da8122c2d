//! Tables that spreadsheets open as they are meant: UTF-8 with its mark, semicolons, decimal commas, and no cell that is run.
//!
//! They are made while they are taken, a chunk at a time, so that their length costs no memory.

use crate::flow::Fault;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use garson_core::money::Minor;
use http::{HeaderName, header};
use hyper::body::Frame;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// By this Excel knows that it is UTF-8.
const MARK: &str = "\u{feff}";
/// Beyond so many digits Excel shows a number in short, and later digits are lost.
const MOST_DIGITS: usize = 11;

/// One line of cells that are ready.
pub fn line(cells: &[String]) -> String {
    format!("{}\r\n", cells.join(";"))
}

/// The cells of the first line.
pub fn heading(names: &[&str]) -> String {
    let cells: Vec<String> = names.iter().map(|name| text(name)).collect();
    format!("{MARK}{}", line(&cells))
}

/// A cell of text. What a spreadsheet would take for a formula gets a sign before it; a number that it would cut short, or
/// whose zeros it would drop, is written as the text that it is.
pub fn text(value: &str) -> String {
    let is_number = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    if is_number && (value.len() > MOST_DIGITS || (value.len() > 1 && value.starts_with('0'))) {
        return format!("\"=\"\"{value}\"\"\"");
    }
    let is_formula = value
        .trim_start()
        .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
        || value.starts_with(['\t', '\r', '\n']);
    let value = match is_formula {
        true => format!("'{value}"),
        false => value.to_owned(),
    };
    // A comma too: a program that takes it for the separator would make a cell of what stands behind it, perhaps a formula.
    match value.contains([';', ',', '\t', '"', '\r', '\n']) {
        true => format!("\"{}\"", value.replace('"', "\"\"")),
        false => value,
    }
}

/// A cell with an amount: `1234,50`.
pub fn amount(amount: Minor) -> String {
    let minor = amount.0.unsigned_abs();
    let sign = if amount.0 < 0 { "-" } else { "" };
    format!("{sign}{},{:02}", minor / 100, minor % 100)
}

/// Lines that come in chunks.
pub trait Lines: Send + Sized + 'static {
    /// The next chunk, and whoever makes those behind it.
    fn more(self) -> impl Future<Output = Result<(String, Option<Self>), Fault>> + Send;
}

type Step<L> = Pin<Box<dyn Future<Output = Result<(String, Option<L>), Fault>> + Send>>;

/// The next chunk is made when the one before has been taken.
struct Table<L> {
    first: Option<String>,
    step: Option<Step<L>>,
}

impl<L: Lines> hyper::body::Body for Table<L> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first.into()))));
        }
        let Some(step) = &mut self.step else {
            return Poll::Ready(None);
        };
        let made = ready!(step.as_mut().poll(context));
        self.step = None;
        Poll::Ready(Some(match made {
            Ok((chunk, rest)) => {
                self.step = rest.map(|rest| Box::pin(rest.more()) as Step<L>);
                Ok(Frame::data(chunk.into()))
            }
            // The connection is cut off, so that nobody takes a part for the whole.
            Err(fault) => {
                tracing::error!(?fault, "a table could not be made to its end");
                Err(io::Error::other("the table ends here"))
            }
        }))
    }
}

/// A file to be saved. The first chunk is made before it begins, so that what is wrong can still be said.
pub async fn answer(name: &str, heading: String, lines: impl Lines) -> Result<Response, Fault> {
    let (first, rest) = lines.more().await?;
    let table = Table {
        first: Some(heading + &first),
        step: rest.map(|rest| Box::pin(rest.more()) as Step<_>),
    };
    let headers: [(HeaderName, String); 2] = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}.csv\""),
        ),
    ];
    Ok((headers, Body::new(table)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_harmless_and_keep_their_text() {
        for (value, cell) in [
            ("Çiğ köfte", "Çiğ köfte"),
            ("a;b", "\"a;b\""),
            ("Simit,=1+1", "\"Simit,=1+1\""),
            ("a\t=1+1", "\"a\t=1+1\""),
            ("a \"b\"\nc", "\"a \"\"b\"\"\nc\""),
            ("=1+1", "'=1+1"),
            ("+90", "'+90"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            (" =1", "' =1"),
            ("=A;\"x\"", "\"'=A;\"\"x\"\"\""),
            ("\t=1", "\"'\t=1\""),
            ("12345678901", "12345678901"),
            ("123456789012", "\"=\"\"123456789012\"\"\""),
            ("007", "\"=\"\"007\"\"\""),
            ("0", "0"),
            ("", ""),
        ] {
            assert_eq!(text(value), cell, "{value:?}");
        }
        assert_eq!(amount(Minor(123_450)), "1234,50");
        assert_eq!(amount(Minor(-5)), "-0,05");
        assert_eq!(heading(&["Ş", "b"]), "\u{feff}Ş;b\r\n");
    }
}
