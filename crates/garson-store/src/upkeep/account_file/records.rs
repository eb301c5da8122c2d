//! The records in the frames: what the file is, the rows of each table, and what closes it.

use super::frames::{FrameReader, FrameWriter, Salt};
use crate::engine::Owned;
use crate::{Result, StoreError};
use garson_core::id::RestaurantId;
use garson_core::secret::Secret;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{Read, Seek, Write};

/// A value larger than this is not in any table.
const MAX_LENGTH: u32 = 256 * 1024 * 1024;

const DESCRIPTION: u8 = 1;
const TABLE: u8 = 2;
const ROW: u8 = 3;
const WORK: u8 = 4;
const END: u8 = 5;

/// What the file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The account's id, in hexadecimal digits.
    pub account: String,
    pub email: String,
    pub name: String,
    /// The version of the program that wrote it.
    pub program: String,
    pub exported_at: i64,
    /// Its restaurants: sums are stored by their ids alone.
    #[serde(default)]
    pub restaurants: Vec<RestaurantId>,
}

#[derive(Serialize, Deserialize)]
struct TableRecord {
    name: String,
    columns: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct End {
    rows: u64,
    sha256: String,
}

/// Writes the records of a file.
pub struct Writer<W: Write> {
    frames: FrameWriter<W>,
    hash: Sha256,
    rows: u64,
}

impl<W: Write> Writer<W> {
    pub fn begin(
        to: W,
        derive: impl FnOnce(&Salt) -> Result<Secret<[u8; 32]>>,
        description: &Description,
    ) -> Result<Self> {
        let mut writer = Self {
            frames: FrameWriter::begin(to, derive)?,
            hash: Sha256::new(),
            rows: 0,
        };
        writer.json(DESCRIPTION, description)?;
        Ok(writer)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.frames.write(bytes)
    }

    fn json(&mut self, kind: u8, record: &impl Serialize) -> Result<()> {
        let text =
            serde_json::to_vec(record).map_err(|_| StoreError::internal("a record does not serialise"))?;
        self.write(&[kind])?;
        self.bytes(&text)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let length = u32::try_from(bytes.len())
            .ok()
            .filter(|length| *length <= MAX_LENGTH);
        let length = length.ok_or_else(|| StoreError::refused("a value is too large to be exported"))?;
        self.write(&length.to_be_bytes())?;
        self.write(bytes)
    }

    /// The rows that follow are of this table.
    pub fn table(&mut self, name: &str, columns: &[&str]) -> Result<()> {
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        let name = name.to_owned();
        self.json(TABLE, &TableRecord { name, columns })
    }

    pub fn row(&mut self, row: &[Owned]) -> Result<()> {
        self.rows += 1;
        self.write(&[ROW])?;
        for value in row {
            match value {
                Owned::Null => self.write(&[0])?,
                Owned::Int(int) => {
                    self.write(&[1])?;
                    self.write(&int.to_be_bytes())?;
                }
                Owned::Real(real) => {
                    self.write(&[2])?;
                    self.write(&real.to_be_bytes())?;
                }
                Owned::Text(text) => {
                    self.write(&[3])?;
                    self.bytes(text.as_bytes())?;
                }
                Owned::Blob(blob) => {
                    self.write(&[4])?;
                    self.bytes(blob)?;
                }
            }
        }
        Ok(())
    }

    /// What follows is written at once when it is imported.
    pub fn begin_work(&mut self) -> Result<()> {
        self.write(&[WORK])?;
        self.frames.end_frame(false)
    }

    /// Ends the file; returns it, and the number of rows.
    pub fn finish(mut self) -> Result<(W, u64)> {
        let end = End {
            rows: self.rows,
            sha256: hex(self.hash.clone()),
        };
        self.json(END, &end)?;
        Ok((self.frames.finish()?, self.rows))
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The next part of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    Table {
        name: String,
        columns: Vec<String>,
    },
    Row(Vec<Owned>),
    Work,
    /// Everything was read, and is what was written.
    End,
}

/// A place in the file to go back to.
#[derive(Clone)]
pub struct Mark {
    frame: (u64, u32),
    hash: Sha256,
    rows: u64,
    width: usize,
}

/// Reads the records of a file.
pub struct Reader<R: Read + Seek> {
    frames: FrameReader<R>,
    hash: Sha256,
    rows: u64,
    /// The number of columns of the current table.
    width: usize,
}

impl<R: Read + Seek> Reader<R> {
    pub fn begin(
        from: R,
        derive: impl FnOnce(&Salt) -> Result<Secret<[u8; 32]>>,
    ) -> Result<(Self, Description)> {
        let mut reader = Self {
            frames: FrameReader::begin(from, derive)?,
            hash: Sha256::new(),
            rows: 0,
            width: 0,
        };
        match reader.byte()? {
            DESCRIPTION => {}
            _ => return Err(damaged()),
        }
        let description = reader.json()?;
        Ok((reader, description))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.frames.read_exact(&mut bytes)?;
        self.hash.update(bytes);
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        let length = u32::from_be_bytes(self.array()?);
        if length > MAX_LENGTH {
            return Err(damaged());
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        self.frames.read_exact(&mut bytes)?;
        self.hash.update(&bytes);
        Ok(bytes)
    }

    fn json<T: for<'de> Deserialize<'de>>(&mut self) -> Result<T> {
        serde_json::from_slice(&self.bytes()?).map_err(|_| damaged())
    }

    pub fn next_record(&mut self) -> Result<Record> {
        let before = self.hash.clone();
        match self.byte()? {
            TABLE => {
                let TableRecord { name, columns } = self.json()?;
                self.width = columns.len();
                Ok(Record::Table { name, columns })
            }
            ROW => {
                self.rows += 1;
                (0..self.width)
                    .map(|_| self.value())
                    .collect::<Result<_>>()
                    .map(Record::Row)
            }
            WORK => Ok(Record::Work),
            END => {
                let end: End = self.json()?;
                if end.rows != self.rows || end.sha256 != hex(before) {
                    return Err(StoreError::refused("the checksum of the file is wrong"));
                }
                self.frames.expect_end()?;
                Ok(Record::End)
            }
            _ => Err(damaged()),
        }
    }

    fn value(&mut self) -> Result<Owned> {
        Ok(match self.byte()? {
            0 => Owned::Null,
            1 => Owned::Int(i64::from_be_bytes(self.array()?)),
            2 => Owned::Real(f64::from_be_bytes(self.array()?)),
            3 => Owned::Text(String::from_utf8(self.bytes()?).map_err(|_| damaged())?),
            4 => Owned::Blob(self.bytes()?),
            _ => return Err(damaged()),
        })
    }

    /// The place after the last record, which must have ended its frame.
    pub fn mark(&mut self) -> Result<Mark> {
        Ok(Mark {
            frame: self.frames.position()?,
            hash: self.hash.clone(),
            rows: self.rows,
            width: self.width,
        })
    }

    pub fn restore(&mut self, mark: &Mark) -> Result<()> {
        self.hash = mark.hash.clone();
        (self.rows, self.width) = (mark.rows, mark.width);
        self.frames.restore(mark.frame)
    }
}

fn damaged() -> StoreError {
    StoreError::refused("the file is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[expect(clippy::unnecessary_wraps, reason = "as a real one may fail")]
    fn key(_: &Salt) -> Result<Secret<[u8; 32]>> {
        Ok(Secret::new([7; 32]))
    }

    #[test]
    fn records_are_read_as_written_and_the_second_section_again() {
        let description = Description {
            account: "00".repeat(16),
            email: "a@example.com".to_owned(),
            name: "Ş".to_owned(),
            program: "1".to_owned(),
            exported_at: 5,
            restaurants: Vec::new(),
        };
        let mut writer = Writer::begin(Vec::new(), key, &description).unwrap();
        writer.table("t", &["a", "b", "c"]).unwrap();
        let first = vec![Owned::Int(-1), Owned::Null, Owned::Text("ş".to_owned())];
        let second = vec![
            Owned::Real(0.5),
            Owned::Blob(vec![0; 70_000]),
            Owned::Text(String::new()),
        ];
        writer.row(&first).unwrap();
        writer.begin_work().unwrap();
        writer.table("t", &["a", "b", "c"]).unwrap();
        writer.row(&second).unwrap();
        let (file, rows) = writer.finish().unwrap();
        assert_eq!(rows, 2);
        let (mut reader, found) = Reader::begin(Cursor::new(file), key).unwrap();
        assert_eq!(found, description);
        assert!(matches!(reader.next_record().unwrap(), Record::Table { .. }));
        assert_eq!(reader.next_record().unwrap(), Record::Row(first));
        assert_eq!(reader.next_record().unwrap(), Record::Work);
        let mark = reader.mark().unwrap();
        for _ in 0..2 {
            reader.restore(&mark).unwrap();
            assert!(matches!(reader.next_record().unwrap(), Record::Table { .. }));
            assert_eq!(reader.next_record().unwrap(), Record::Row(second.clone()));
            assert_eq!(reader.next_record().unwrap(), Record::End);
        }
    }
}
