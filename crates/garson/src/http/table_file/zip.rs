//! ZIP archives, written as a stream: sizes and checksums follow each file, and the list of files is at the end.

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use std::io;
use std::io::Write;

/// Checksums follow the content; names are UTF-8.
const FLAGS: u16 = 0x0808;
const DEFLATED: u16 = 8;
/// The version of the format that a reader must know.
const VERSION: u16 = 20;
/// 1 January 1980, the earliest date: files have no date of their own.
const DATE: u16 = 0x0021;

/// A file that is complete.
struct Entry {
    name: String,
    checksum: u32,
    packed: u32,
    size: u32,
    offset: u32,
}

/// A file that is being written.
struct Open {
    name: String,
    offset: u32,
    packed: u64,
    checksum: Crc,
    encoder: DeflateEncoder<Vec<u8>>,
}

#[derive(Default)]
pub struct Zip {
    /// Bytes that nobody has taken yet.
    ready: Vec<u8>,
    /// How many bytes were written before.
    written: u64,
    entries: Vec<Entry>,
    open: Option<Open>,
}

fn fits<N: TryInto<u32>>(number: N) -> io::Result<u32> {
    let too_large = |_| io::Error::other("the file is larger than 4 GiB");
    number.try_into().map_err(too_large)
}

impl Zip {
    /// The bytes that were written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        self.written += self.ready.len() as u64;
        std::mem::take(&mut self.ready)
    }

    /// Adds a whole file.
    pub fn add(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.begin(name)?;
        self.write(text)?;
        self.finish()
    }

    /// Begins a file.
    pub fn begin(&mut self, name: &str) -> io::Result<()> {
        let offset = fits(self.written + self.ready.len() as u64)?;
        self.ready.extend(0x0403_4b50_u32.to_le_bytes());
        for field in [VERSION, FLAGS, DEFLATED, 0, DATE] {
            self.ready.extend(field.to_le_bytes());
        }
        // The checksum and the sizes follow the content.
        self.ready.extend([0; 12]);
        self.name(name)?;
        self.ready.extend(0_u16.to_le_bytes());
        self.ready.extend(name.as_bytes());
        self.open = Some(Open {
            name: name.to_owned(),
            offset,
            packed: 0,
            checksum: Crc::new(),
            encoder: DeflateEncoder::new(Vec::new(), Compression::fast()),
        });
        Ok(())
    }

    /// The length of a name.
    fn name(&mut self, name: &str) -> io::Result<()> {
        let length = u16::try_from(name.len()).map_err(|_| io::Error::other("a name is too long"))?;
        self.ready.extend(length.to_le_bytes());
        Ok(())
    }

    /// Continues the file.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        let open = self.open.as_mut().ok_or_else(no_file)?;
        open.checksum.update(text.as_bytes());
        open.encoder.write_all(text.as_bytes())?;
        let packed = std::mem::take(open.encoder.get_mut());
        open.packed += packed.len() as u64;
        self.ready.extend(packed);
        Ok(())
    }

    /// Ends the file.
    pub fn finish(&mut self) -> io::Result<()> {
        let open = self.open.take().ok_or_else(no_file)?;
        let size = open.encoder.total_in();
        let rest = open.encoder.finish()?;
        let entry = Entry {
            name: open.name,
            checksum: open.checksum.sum(),
            packed: fits(open.packed + rest.len() as u64)?,
            size: fits(size)?,
            offset: open.offset,
        };
        self.ready.extend(rest);
        for field in [0x0807_4b50, entry.checksum, entry.packed, entry.size] {
            self.ready.extend(field.to_le_bytes());
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Writes the list of files.
    pub fn end(&mut self) -> io::Result<()> {
        let start = fits(self.written + self.ready.len() as u64)?;
        let entries = std::mem::take(&mut self.entries);
        let count = u16::try_from(entries.len()).map_err(|_| io::Error::other("too many files"))?;
        for entry in entries {
            self.ready.extend(0x0201_4b50_u32.to_le_bytes());
            for field in [VERSION, VERSION, FLAGS, DEFLATED, 0, DATE] {
                self.ready.extend(field.to_le_bytes());
            }
            for field in [entry.checksum, entry.packed, entry.size] {
                self.ready.extend(field.to_le_bytes());
            }
            self.name(&entry.name)?;
            // No extra field, no comment, one disk, no attributes.
            self.ready.extend([0; 12]);
            self.ready.extend(entry.offset.to_le_bytes());
            self.ready.extend(entry.name.as_bytes());
        }
        let length = fits(self.written + self.ready.len() as u64)? - start;
        self.ready.extend(0x0605_4b50_u32.to_le_bytes());
        self.ready.extend([0; 4]);
        for _ in 0..2 {
            self.ready.extend(count.to_le_bytes());
        }
        self.ready.extend(length.to_le_bytes());
        self.ready.extend(start.to_le_bytes());
        self.ready.extend([0; 2]);
        Ok(())
    }
}

fn no_file() -> io::Error {
    io::Error::other("no file is open")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::DeflateDecoder;
    use std::io::Read;

    fn number(bytes: &[u8], at: usize) -> usize {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    }

    #[test]
    fn files_are_found_through_the_list_at_the_end() {
        let mut zip = Zip::default();
        let mut all = Vec::new();
        zip.add("a.xml", "short").unwrap();
        all.extend(zip.take());
        zip.begin("b.xml").unwrap();
        for n in 0..1000 {
            zip.write(&format!("line {n}\n")).unwrap();
            all.extend(zip.take());
        }
        zip.finish().unwrap();
        zip.end().unwrap();
        all.extend(zip.take());
        let end = all.len() - 22;
        assert_eq!(number(&all, end), 0x0605_4b50);
        assert_eq!(all[end + 10], 2);
        let mut at = number(&all, end + 16);
        let mut texts = Vec::new();
        for _ in 0..2 {
            assert_eq!(number(&all, at), 0x0201_4b50);
            let (packed, size) = (number(&all, at + 20), number(&all, at + 24));
            let name = usize::from(all[at + 28]);
            let offset = number(&all, at + 42);
            assert_eq!(number(&all, offset), 0x0403_4b50);
            let content = &all[offset + 30 + name..][..packed];
            let mut text = String::new();
            DeflateDecoder::new(content).read_to_string(&mut text).unwrap();
            assert_eq!(text.len(), size);
            let mut checksum = Crc::new();
            checksum.update(text.as_bytes());
            assert_eq!(checksum.sum() as usize, number(&all, at + 16));
            texts.push(text);
            at += 46 + name;
        }
        assert_eq!(texts[0], "short");
        assert!(texts[1].ends_with("line 999\n"));
    }
}
