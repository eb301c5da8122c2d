//! A picture in black and white, and its PNG file.

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read, Write};
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub width: usize,
    /// Rows of dots; `true` is black.
    pub rows: Vec<Vec<bool>>,
}

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

impl Image {
    pub fn new(width: usize) -> Self {
        Self {
            width,
            rows: Vec::new(),
        }
    }

    pub fn add_rows(&mut self, count: usize) -> usize {
        let start = self.rows.len();
        self.rows.resize(start + count, vec![false; self.width]);
        start
    }

    pub fn set(&mut self, x: usize, y: usize, is_black: bool) {
        if let Some(dot) = self.rows.get_mut(y).and_then(|row| row.get_mut(x)) {
            *dot = is_black;
        }
    }

    /// One bit for each dot.
    pub fn write(&self, path: &Path) {
        let mut data = Vec::new();
        for row in &self.rows {
            data.push(0);
            for dots in row.chunks(8) {
                let bit = |(at, is_black): (usize, &bool)| if *is_black { 0 } else { 0x80_u8 >> at };
                data.push(dots.iter().enumerate().map(bit).sum());
            }
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&data).unwrap();
        let (width, height) = (size(self.width), size(self.rows.len()));
        let mut file = SIGNATURE.to_vec();
        push_chunk(
            &mut file,
            b"IHDR",
            &[&width[..], &height[..], &[1, 0, 0, 0, 0]].concat(),
        );
        push_chunk(&mut file, b"IDAT", &encoder.finish().unwrap());
        push_chunk(&mut file, b"IEND", &[]);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, file).unwrap();
    }

    /// Reads what [`Self::write`] writes.
    pub fn read(path: &Path) -> Option<Self> {
        let file = std::fs::read(path).ok()?;
        let mut rest = file.strip_prefix(SIGNATURE)?;
        let (mut width, mut packed) = (0, Vec::new());
        while rest.len() >= 12 {
            let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
            let (kind, content) = (&rest[4..8], &rest[8..8 + length]);
            match kind {
                b"IHDR" => width = u32::from_be_bytes(content[..4].try_into().unwrap()) as usize,
                b"IDAT" => packed.extend_from_slice(content),
                _ => {}
            }
            rest = &rest[12 + length..];
        }
        let mut data = Vec::new();
        ZlibDecoder::new(packed.as_slice()).read_to_end(&mut data).ok()?;
        let row = |bytes: &[u8]| {
            (0..width)
                .map(|x| bytes[1 + x / 8] & (0x80 >> (x % 8)) == 0)
                .collect()
        };
        let rows = data.chunks(1 + width.div_ceil(8)).map(row).collect();
        Some(Self { width, rows })
    }
}

/// A number as a PNG file has it.
pub fn size(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap().to_be_bytes()
}

/// Appends a part of a PNG file.
pub fn push_chunk(file: &mut Vec<u8>, kind: &[u8; 4], content: &[u8]) {
    file.extend(size(content.len()));
    let mut crc = flate2::Crc::new();
    crc.update(kind);
    crc.update(content);
    file.extend_from_slice(kind);
    file.extend_from_slice(content);
    file.extend(crc.sum().to_be_bytes());
}
