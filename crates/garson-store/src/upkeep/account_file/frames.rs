//! The encrypted frames of the file.

use crate::{Result, StoreError};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use garson_core::secret::Secret;
use std::io::{Read, Seek, SeekFrom, Write};

const MAGIC: &[u8; 14] = b"garson account";
/// The version of the file's format.
const VERSION: u8 = 1;
/// The length of the salt with which the key is derived from a passphrase.
pub const KEY_SALT: usize = 16;
const PREFIX: usize = 19;
const HEADER: usize = MAGIC.len() + 1 + KEY_SALT + PREFIX;
/// The most that one frame holds.
const FRAME: usize = 64 * 1024;
const TAG: usize = 16;

pub type Salt = [u8; KEY_SALT];

struct Cipher {
    cipher: XChaCha20Poly1305,
    header: [u8; HEADER],
    number: u32,
}

impl Cipher {
    fn new(key: &Secret<[u8; 32]>, header: [u8; HEADER]) -> Self {
        Self {
            cipher: XChaCha20Poly1305::new(&Key::from(*key.expose())),
            header,
            number: 0,
        }
    }

    /// The nonce of the next frame. Each number is used once.
    fn nonce(&self, is_last: bool) -> XNonce {
        let mut nonce = [0; 24];
        let prefix = self.header.iter().skip(HEADER - PREFIX);
        let number = self.number.to_be_bytes();
        let parts = prefix.chain(&number);
        nonce.iter_mut().zip(parts).for_each(|(to, from)| *to = *from);
        if let Some(last) = nonce.last_mut() {
            *last = u8::from(is_last);
        }
        XNonce::from(nonce)
    }

    fn advance(&mut self) -> Result<()> {
        let next = self.number.checked_add(1);
        self.number = next.ok_or_else(|| StoreError::refused("the account is too large for one file"))?;
        Ok(())
    }
}

fn io(error: std::io::Error) -> StoreError {
    StoreError::refused("the file cannot be used").caused_by(error)
}

/// Writes frames.
pub struct FrameWriter<W: Write> {
    to: W,
    cipher: Cipher,
    buffer: Vec<u8>,
}

impl<W: Write> FrameWriter<W> {
    /// Begins a file; `derive` makes the key from a new salt.
    #[expect(clippy::disallowed_methods, reason = "needs real randomness")]
    pub fn begin(mut to: W, derive: impl FnOnce(&Salt) -> Result<Secret<[u8; 32]>>) -> Result<Self> {
        let mut random = [0; KEY_SALT + PREFIX];
        getrandom::fill(&mut random).map_err(|_| StoreError::unavailable("no randomness available"))?;
        let mut header = [0; HEADER];
        let parts = MAGIC.iter().chain(&[VERSION]).chain(&random);
        header.iter_mut().zip(parts).for_each(|(to, from)| *to = *from);
        let key = derive(&salt_of(&header)?)?;
        to.write_all(&header).map_err(io)?;
        Ok(Self {
            to,
            cipher: Cipher::new(&key, header),
            buffer: Vec::with_capacity(FRAME),
        })
    }

    pub fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            if self.buffer.len() == FRAME {
                self.end_frame(false)?;
            }
            let room = FRAME - self.buffer.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// Ends the frame, so that what follows can be read again from its beginning.
    pub fn end_frame(&mut self, is_last: bool) -> Result<()> {
        if self.buffer.is_empty() && !is_last {
            return Ok(());
        }
        let payload = Payload {
            msg: &self.buffer,
            aad: &self.cipher.header,
        };
        let sealed = self.cipher.cipher.encrypt(&self.cipher.nonce(is_last), payload);
        let sealed = sealed.map_err(|_| StoreError::internal("a frame could not be encrypted"))?;
        let length = u32::try_from(sealed.len()).unwrap_or(u32::MAX);
        self.to.write_all(&length.to_be_bytes()).map_err(io)?;
        self.to.write_all(&sealed).map_err(io)?;
        self.buffer.clear();
        self.cipher.advance()
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<W> {
        self.end_frame(true)?;
        self.to.flush().map_err(io)?;
        Ok(self.to)
    }
}

fn salt_of(header: &[u8; HEADER]) -> Result<Salt> {
    let salt = header.get(MAGIC.len() + 1..HEADER - PREFIX);
    salt.and_then(|salt| salt.try_into().ok())
        .ok_or_else(|| StoreError::internal("the header has no salt"))
}

/// Reads frames, and can go back to the beginning of one.
pub struct FrameReader<R: Read + Seek> {
    from: R,
    cipher: Cipher,
    frame: Vec<u8>,
    read: usize,
    is_last: bool,
}

impl<R: Read + Seek> FrameReader<R> {
    /// Reads the header; `derive` makes the key from its salt.
    pub fn begin(mut from: R, derive: impl FnOnce(&Salt) -> Result<Secret<[u8; 32]>>) -> Result<Self> {
        let mut header = [0; HEADER];
        let foreign = || StoreError::refused("the file is not an exported account");
        from.read_exact(&mut header).map_err(|_| foreign())?;
        let version = header.strip_prefix(MAGIC).and_then(|rest| rest.first());
        match version {
            Some(&VERSION) => {}
            Some(version) => {
                return Err(StoreError::refused(format!(
                    "the file has version {version} of the format, and this program reads version {VERSION}"
                )));
            }
            None => return Err(foreign()),
        }
        let key = derive(&salt_of(&header)?)?;
        Ok(Self {
            from,
            cipher: Cipher::new(&key, header),
            frame: Vec::new(),
            read: 0,
            is_last: false,
        })
    }

    /// Fills the buffer, or fails.
    pub fn read_exact(&mut self, buffer: &mut [u8]) -> Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.read == self.frame.len() {
                self.next_frame()?;
            }
            let rest = self.frame.get(self.read..).unwrap_or_default();
            let to = buffer.get_mut(filled..).unwrap_or_default();
            let count = rest.len().min(to.len());
            to.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            filled += count;
            self.read += count;
        }
        Ok(())
    }

    fn next_frame(&mut self) -> Result<()> {
        if self.is_last {
            return Err(StoreError::refused("the file ends too early"));
        }
        let cut = |_| StoreError::refused("the file is cut off");
        let mut length = [0; 4];
        self.from.read_exact(&mut length).map_err(cut)?;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if !(TAG..=FRAME + TAG).contains(&length) {
            return Err(StoreError::refused("the file is damaged"));
        }
        let mut sealed = vec![0; length];
        self.from.read_exact(&mut sealed).map_err(cut)?;
        let open = |is_last| {
            let payload = Payload {
                msg: &sealed,
                aad: &self.cipher.header,
            };
            self.cipher.cipher.decrypt(&self.cipher.nonce(is_last), payload)
        };
        let (frame, is_last) = match open(false) {
            Ok(frame) => (frame, false),
            Err(_) => match open(true) {
                Ok(frame) => (frame, true),
                Err(_) if self.cipher.number == 0 => {
                    return Err(StoreError::refused(
                        "the passphrase is wrong, or the file is damaged",
                    ));
                }
                Err(_) => return Err(StoreError::refused("the file is damaged")),
            },
        };
        self.cipher.advance()?;
        (self.frame, self.read, self.is_last) = (frame, 0, is_last);
        Ok(())
    }

    /// Where the next frame begins, if the current one was read completely.
    pub fn position(&mut self) -> Result<(u64, u32)> {
        if self.read != self.frame.len() {
            return Err(StoreError::refused(
                "the file is damaged: a section does not begin with a frame",
            ));
        }
        Ok((self.from.stream_position().map_err(io)?, self.cipher.number))
    }

    /// Goes back to the beginning of a frame.
    pub fn restore(&mut self, (offset, number): (u64, u32)) -> Result<()> {
        self.from.seek(SeekFrom::Start(offset)).map_err(io)?;
        self.cipher.number = number;
        self.frame.clear();
        (self.read, self.is_last) = (0, false);
        Ok(())
    }

    /// Fails unless everything was read.
    pub fn expect_end(&mut self) -> Result<()> {
        let mut more = [0];
        let is_end = self.is_last && self.read == self.frame.len();
        if is_end && self.from.read(&mut more).map_err(io)? == 0 {
            return Ok(());
        }
        Err(StoreError::refused("the file has more than it should"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[expect(clippy::unnecessary_wraps, reason = "as a real one may fail")]
    fn key(_: &Salt) -> Result<Secret<[u8; 32]>> {
        Ok(Secret::new([7; 32]))
    }

    fn written(parts: &[&[u8]]) -> Vec<u8> {
        let mut writer = FrameWriter::begin(Vec::new(), key).unwrap();
        for part in parts {
            writer.write(part).unwrap();
        }
        writer.finish().unwrap()
    }

    fn read(bytes: &[u8], count: usize) -> Result<Vec<u8>> {
        let mut reader = FrameReader::begin(Cursor::new(bytes), key)?;
        let mut buffer = vec![0; count];
        reader.read_exact(&mut buffer)?;
        reader.expect_end()?;
        Ok(buffer)
    }

    #[test]
    fn what_was_written_is_read_and_nothing_is_readable_in_the_file() {
        let long = vec![b'x'; 3 * FRAME + 5];
        let file = written(&[b"hunter2", &long]);
        assert!(!file.windows(7).any(|window| window == b"hunter2"));
        let back = read(&file, 7 + long.len()).unwrap();
        assert!(back.starts_with(b"hunter2xxx") && back.len() == 7 + long.len());
    }

    #[test]
    fn every_damage_is_recognised() {
        let content = vec![b'x'; FRAME + 100];
        let file = written(&[&content]);
        for at in (0..file.len()).step_by(97).chain([0, 14, 15, 40, 52]) {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            // The key does not depend on the salt here, but the header is authenticated.
            assert!(read(&damaged, content.len()).is_err(), "byte {at}");
            assert!(read(&file[..at], content.len()).is_err(), "cut at {at}");
        }
        let mut longer = file.clone();
        longer.push(0);
        assert!(read(&longer, content.len()).is_err());
        // Without its last frame it is not the whole file.
        let first = HEADER + 4 + FRAME + TAG;
        assert!(read(&file[..first], FRAME).is_err());
    }

    #[test]
    fn a_wrong_passphrase_and_another_version_are_named() {
        let file = written(&[b"x"]);
        let wrong = FrameReader::begin(Cursor::new(&file), |_| Ok(Secret::new([8; 32])));
        let error = wrong.unwrap().read_exact(&mut [0]).unwrap_err().to_string();
        assert!(error.contains("passphrase"), "{error}");
        let mut newer = file;
        newer[MAGIC.len()] = 9;
        let error = read(&newer, 1).unwrap_err().to_string();
        assert!(error.contains("version 9"), "{error}");
        let error = read(b"hello", 1).unwrap_err().to_string();
        assert!(error.contains("not an exported account"), "{error}");
    }
}
