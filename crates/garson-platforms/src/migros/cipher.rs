//! Bodies as Migros requires them: spaced JSON, encrypted with the integrator's key.
//!
//! AES-256 in ECB mode shows which blocks are alike, so it does not protect; TLS does. The
//! platform requires it.

use super::names::{KEY_DERIVATION, SECRET_KEY};
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes256, Block};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use garson_core::platform::{Link, PlatformError};
use serde::Serialize;
use serde_json::ser::Formatter;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// How the key comes from the secret: its 32 bytes as they are, or their hash. Integrators report both.
pub const RAW: &str = "raw";
pub const SHA256: &str = "sha256";

const BLOCK: usize = 16;

/// The key of one integrator.
pub struct Key(Aes256);

impl Key {
    pub fn of(link: &Link<'_>) -> Result<Self, PlatformError> {
        let secret = link.credential(SECRET_KEY)?.as_bytes();
        let derivation = link.credentials.get(KEY_DERIVATION);
        let bytes: [u8; 32] = match derivation.map(|word| word.expose().as_str()) {
            None | Some("" | RAW) => secret.try_into().map_err(|_| PlatformError::MissingCredential {
                name: "secretKey of 32 bytes",
            })?,
            Some(SHA256) => Sha256::digest(secret).into(),
            Some(_) => return Err(PlatformError::MissingCredential { name: KEY_DERIVATION }),
        };
        Ok(Self::from_bytes(bytes))
    }

    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Aes256::new(&Array::from(bytes)))
    }

    /// Encrypts, with one to sixteen bytes behind the text that each say how many they are (PKCS7).
    pub fn encrypt(&self, plain: &[u8]) -> Vec<u8> {
        let padding = BLOCK - plain.len() % BLOCK;
        let mut data = plain.to_vec();
        data.resize(plain.len() + padding, u8::try_from(padding).unwrap_or_default());
        let (blocks, _) = Block::slice_as_chunks_mut(&mut data);
        self.0.encrypt_blocks(blocks);
        data
    }

    /// The text, where that was encrypted with this key.
    pub fn decrypt(&self, mut data: Vec<u8>) -> Option<Vec<u8>> {
        let (blocks, rest) = Block::slice_as_chunks_mut(&mut data);
        if !rest.is_empty() {
            return None;
        }
        self.0.decrypt_blocks(blocks);
        let last = *data.last()?;
        let padding = usize::from(last);
        let length = data.len().checked_sub(padding)?;
        let is_padded = (1..=BLOCK).contains(&padding) && data.get(length..)?.iter().all(|b| *b == last);
        data.truncate(length);
        is_padded.then_some(data)
    }

    /// A value as it travels: `{"value": "<base64>"}`.
    pub fn seal<T: Serialize>(&self, value: &T) -> Vec<u8> {
        #[derive(Serialize)]
        struct Sealed {
            value: String,
        }
        let value = STANDARD.encode(self.encrypt(&spaced(value)));
        spaced(&Sealed { value })
    }

    /// The text in a sealed `value`.
    pub fn open(&self, value: &str) -> Option<Vec<u8>> {
        self.decrypt(STANDARD.decode(value.trim()).ok()?)
    }
}

/// JSON with a space behind every colon and comma: the platform has been seen to refuse it otherwise.
pub fn spaced<T: Serialize>(value: &T) -> Vec<u8> {
    let mut written = Vec::with_capacity(128);
    let mut serializer = serde_json::Serializer::with_formatter(&mut written, Spaced);
    // What is written here are numbers, words and lists of them: that cannot fail.
    let _ = value.serialize(&mut serializer);
    written
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
