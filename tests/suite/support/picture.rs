//! Small pictures of pages: read from screenshots, stored as PNG with 16 levels for each colour, compared with a tolerance.

use super::printer::image::{push_chunk, size};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read, Write};
use std::path::Path;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Levels by which a dot may differ: edges of letters are not drawn alike by every processor.
const TOLERANCE: u8 = 2;

/// Red, green and blue of a dot, each from 0 to 15.
type Dot = [u8; 3];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: usize,
    dots: Vec<Dot>,
}

impl Picture {
    pub fn new(width: usize, height: usize, dot: Dot) -> Self {
        Self {
            width,
            dots: vec![dot; width * height],
        }
    }

    pub fn height(&self) -> usize {
        self.dots.len() / self.width
    }

    #[cfg(test)]
    pub fn fill(&mut self, left: usize, top: usize, width: usize, height: usize, dot: Dot) {
        for y in top..top + height {
            self.dots[y * self.width + left..][..width].fill(dot);
        }
    }

    /// Reads a PNG with eight bits for each colour or for each entry of its palette.
    pub fn decode(file: &[u8]) -> Option<Self> {
        let mut rest = file.strip_prefix(SIGNATURE)?;
        let (mut width, mut kind, mut palette, mut packed) = (0, 0, Vec::new(), Vec::new());
        while rest.len() >= 12 {
            let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
            let (name, content) = (&rest[4..8], &rest[8..8 + length]);
            match name {
                b"IHDR" => {
                    width = u32::from_be_bytes(content[..4].try_into().unwrap()) as usize;
                    kind = content[9];
                    assert_eq!((content[8], content[12]), (8, 0), "depth and interlacing");
                }
                b"PLTE" => palette = content.to_vec(),
                b"IDAT" => packed.extend_from_slice(content),
                _ => {}
            }
            rest = &rest[12 + length..];
        }
        let mut data = Vec::new();
        ZlibDecoder::new(packed.as_slice()).read_to_end(&mut data).ok()?;
        let bytes = match kind {
            2 => 3,
            3 => 1,
            6 => 4,
            other => panic!("colour type {other}"),
        };
        let rows = unfilter(&data, width * bytes, bytes);
        let dot = |at: &[u8]| match kind {
            3 => quantised(&palette[usize::from(at[0]) * 3..]),
            _ => quantised(at),
        };
        Some(Self {
            width,
            dots: rows.chunks(bytes).map(dot).collect(),
        })
    }

    pub fn read(path: &Path) -> Option<Self> {
        Self::decode(&std::fs::read(path).ok()?)
    }

    /// With a palette if the colours fit into one.
    pub fn encode(&self) -> Vec<u8> {
        let mut palette: Vec<Dot> = self.dots.clone();
        palette.sort_unstable();
        palette.dedup();
        let is_indexed = palette.len() <= 256;
        let mut data = Vec::new();
        for row in self.dots.chunks(self.width) {
            data.push(0);
            for dot in row {
                if is_indexed {
                    data.push(u8::try_from(palette.binary_search(dot).unwrap()).unwrap());
                } else {
                    data.extend(dot.map(|level| level * 17));
                }
            }
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&data).unwrap();
        let (width, height) = (size(self.width), size(self.height()));
        let mut file = SIGNATURE.to_vec();
        let kind = if is_indexed { 3 } else { 2 };
        push_chunk(
            &mut file,
            b"IHDR",
            &[&width[..], &height[..], &[8, kind, 0, 0, 0]].concat(),
        );
        if is_indexed {
            let colours: Vec<u8> = palette.iter().flatten().map(|level| level * 17).collect();
            push_chunk(&mut file, b"PLTE", &colours);
        }
        push_chunk(&mut file, b"IDAT", &encoder.finish().unwrap());
        push_chunk(&mut file, b"IEND", &[]);
        file
    }

    pub fn write(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, self.encode()).unwrap();
    }

    /// How many dots differ by more than the tolerance. All of them if the sizes differ.
    pub fn differences(&self, other: &Self) -> usize {
        if (self.width, self.dots.len()) != (other.width, other.dots.len()) {
            return self.dots.len().max(other.dots.len());
        }
        let pairs = self.dots.iter().zip(&other.dots);
        pairs.filter(|(one, other)| differ(one, other)).count()
    }

    /// The other picture in light grey, and in red where this one differs.
    pub fn marked(&self, other: &Self) -> Self {
        let (width, height) = (self.width.max(other.width), self.height().max(other.height()));
        let mut marked = Self::new(width, height, [15, 15, 15]);
        for y in 0..height {
            for x in 0..width {
                marked.dots[y * width + x] = match (self.dot(x, y), other.dot(x, y)) {
                    (Some(one), Some(other)) if !differ(one, other) => other.map(|level| 10 + level / 3),
                    _ => [15, 0, 0],
                };
            }
        }
        marked
    }

    fn dot(&self, x: usize, y: usize) -> Option<&Dot> {
        (x < self.width)
            .then(|| self.dots.get(y * self.width + x))
            .flatten()
    }
}

fn differ(one: &Dot, other: &Dot) -> bool {
    one.iter()
        .zip(other)
        .any(|(one, other)| one.abs_diff(*other) > TOLERANCE)
}

fn quantised(colours: &[u8]) -> Dot {
    [colours[0], colours[1], colours[2]].map(|colour| ((u16::from(colour) + 8) / 17) as u8)
}

/// Undoes the filters of the rows.
fn unfilter(data: &[u8], stride: usize, bytes: usize) -> Vec<u8> {
    let mut rows: Vec<u8> = Vec::with_capacity(data.len());
    let mut above = vec![0; stride];
    for line in data.chunks(stride + 1) {
        let (filter, mut row) = (line[0], line[1..].to_vec());
        for at in 0..row.len() {
            let left = if at < bytes { 0 } else { row[at - bytes] };
            let corner = if at < bytes { 0 } else { above[at - bytes] };
            let predicted = match filter {
                0 => 0,
                1 => left,
                2 => above[at],
                3 => u8::midpoint(left, above[at]),
                4 => nearest_neighbour(left, above[at], corner),
                other => panic!("filter {other}"),
            };
            row[at] = row[at].wrapping_add(predicted);
        }
        rows.extend_from_slice(&row);
        above = row;
    }
    rows
}

fn nearest_neighbour(left: u8, above: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(above) - i16::from(corner);
    let distance = |of: u8| (guess - i16::from(of)).abs();
    let (a, b, c) = (distance(left), distance(above), distance(corner));
    if a <= b && a <= c {
        left
    } else if b <= c {
        above
    } else {
        corner
    }
}

#[cfg(test)]
mod tests {
    use super::Picture;

    const PAPER: [u8; 3] = [15, 14, 14];
    const BUTTON: [u8; 3] = [11, 4, 1];

    fn page_with_button(left: usize) -> Picture {
        let mut page = Picture::new(97, 60, PAPER);
        page.fill(left, 20, 20, 10, BUTTON);
        page
    }

    #[test]
    fn picture_is_read_as_it_was_written() {
        let page = page_with_button(10);
        assert_eq!(Picture::decode(&page.encode()), Some(page));
        // More colours than a palette has.
        let mut colourful = Picture::new(300, 1, PAPER);
        for x in 0..300 {
            colourful.fill(x, 0, 1, 1, [(x % 16) as u8, (x / 16) as u8 % 16, (x / 256) as u8]);
        }
        assert_eq!(Picture::decode(&colourful.encode()), Some(colourful));
    }

    #[test]
    fn moved_button_is_detected() {
        let (before, after) = (page_with_button(10), page_with_button(12));
        assert_eq!(before.differences(&before), 0);
        assert_eq!(after.differences(&before), 2 * 2 * 10);
        let marked = after.marked(&before);
        assert_eq!(marked.dot(10, 20), Some(&[15, 0, 0]));
        assert_ne!(marked.dot(15, 20), Some(&[15, 0, 0]));
    }

    #[test]
    fn slightly_different_edges_are_tolerated_and_other_colours_are_not() {
        let before = page_with_button(10);
        let (mut similar, mut other) = (before.clone(), before.clone());
        similar.fill(10, 20, 20, 1, [12, 6, 2]);
        other.fill(10, 20, 20, 1, [1, 4, 11]);
        assert_eq!(similar.differences(&before), 0);
        assert_eq!(other.differences(&before), 20);
    }

    #[test]
    fn longer_page_differs() {
        let (short, long) = (Picture::new(10, 10, PAPER), Picture::new(10, 12, PAPER));
        assert_eq!(long.differences(&short), 120);
        assert_eq!(long.marked(&short).height(), 12);
    }
}
