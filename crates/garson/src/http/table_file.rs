//! Tables as files for spreadsheets, CSV or XLSX.
//!
//! Files are streamed in chunks, so their length costs no memory.

mod cell;
mod csv;
mod xlsx;
mod zip;

pub use cell::Cell;

use crate::flow::Fault;
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use garson_store::StoreError;
use http::{HeaderName, header};
use std::future::Future;
use std::io;
use xlsx::Workbook;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    Csv,
    Xlsx,
}

impl FileFormat {
    fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Xlsx => "xlsx",
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    }
}

/// Produces the rows of a file in chunks.
pub trait RowSource: Send + Sized + 'static {
    /// The next rows, and the source of the remaining ones.
    fn next_chunk(self) -> impl Future<Output = Result<(Vec<Vec<Cell>>, Option<Self>), Fault>> + Send;
}

/// Rows that are known already.
pub struct Rows(pub Vec<Vec<Cell>>);

impl RowSource for Rows {
    async fn next_chunk(self) -> Result<(Vec<Vec<Cell>>, Option<Self>), Fault> {
        Ok((self.0, None))
    }
}

/// Writes a file piece by piece.
enum Writer {
    Csv,
    Xlsx(Box<Workbook>),
}

impl Writer {
    /// The writer, and the beginning of the file.
    fn begin(format: FileFormat, heading: &[&str]) -> io::Result<(Self, Vec<u8>)> {
        match format {
            FileFormat::Csv => Ok((Self::Csv, csv::heading(heading).into_bytes())),
            FileFormat::Xlsx => {
                let mut workbook = Box::new(Workbook::new(heading));
                let start = workbook.begin()?;
                Ok((Self::Xlsx(workbook), start))
            }
        }
    }

    fn rows(&mut self, rows: &[Vec<Cell>]) -> io::Result<Vec<u8>> {
        match self {
            Self::Csv => {
                let text: String = rows.iter().map(|row| csv::row(row)).collect();
                Ok(text.into_bytes())
            }
            Self::Xlsx(workbook) => workbook.rows(rows),
        }
    }

    fn end(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Csv => Ok(Vec::new()),
            Self::Xlsx(workbook) => workbook.end(),
        }
    }
}

/// A file download. The first chunk is read before the response starts, so that an early error becomes an error page.
pub async fn download(
    format: FileFormat,
    name: &str,
    heading: &[&str],
    rows: impl RowSource,
) -> Result<Response, Fault> {
    let (first, rest) = rows.next_chunk().await?;
    let failed =
        |error: io::Error| Fault::Store(StoreError::internal(format!("could not write a table: {error}")));
    let (mut writer, mut start) = Writer::begin(format, heading).map_err(failed)?;
    start.extend(writer.rows(&first).map_err(failed)?);
    let start = stream::iter([Ok(Bytes::from(start))]);
    let rest = stream::try_unfold(Some((writer, rest)), async |state| {
        let Some((mut writer, rest)) = state else {
            return Ok(None);
        };
        let Some(rows) = rest else {
            return Ok::<_, io::Error>(Some((Bytes::from(writer.end()?), None)));
        };
        let (rows, rest) = rows.next_chunk().await.map_err(truncated)?;
        let bytes = writer.rows(&rows)?;
        Ok(Some((Bytes::from(bytes), Some((writer, rest)))))
    });
    let headers: [(HeaderName, String); 2] = [
        (header::CONTENT_TYPE, format.content_type().to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}.{}\"", format.extension()),
        ),
    ];
    let body = Body::from_stream(stream::StreamExt::chain(start, rest));
    Ok((headers, body).into_response())
}

/// Aborts the connection, so that a part of the file is not mistaken for all of it.
fn truncated(fault: Fault) -> io::Error {
    tracing::error!(?fault, "a download failed after it had started");
    io::Error::other("the file is incomplete")
}
