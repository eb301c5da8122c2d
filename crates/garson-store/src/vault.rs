//! Encryption of secrets at rest, with the operator's master key; each secret is bound to the place where it is stored.

use crate::{Result, StoreError, Tx, params};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use garson_core::integration::Credentials;
use garson_core::secret::Secret;
use hmac::{Hmac, Mac};
use parking_lot::RwLock;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The first byte of a sealed value: the version of its format.
const FORMAT: u8 = 1;
const NONCE: usize = 24;
const KEY_ID: usize = 4;

/// Encrypts (seals) and decrypts (opens) secrets. Clones share their keys. While the master key is rotated there are two: both
/// open, and one of them seals.
#[derive(Clone)]
pub struct Vault {
    keys: Arc<RwLock<Keys>>,
}

struct Keys {
    sealing: MasterKey,
    other: Option<MasterKey>,
}

/// Everything that is derived from one master key.
#[derive(Clone)]
struct MasterKey {
    cipher: XChaCha20Poly1305,
    id: KeyFingerprint,
    /// Its key is derived from the master key for this purpose only.
    lookup: Hmac<Sha256>,
}

/// Tells master keys apart; it says nothing about the key.
pub type KeyFingerprint = [u8; KEY_ID];

/// The fingerprint of a master key.
#[must_use]
pub fn fingerprint(master: &Secret<[u8; 32]>) -> KeyFingerprint {
    let hash = Sha256::new()
        .chain_update(b"garson master key")
        .chain_update(master.expose())
        .finalize();
    let mut id = [0; KEY_ID];
    id.iter_mut().zip(hash.iter()).for_each(|(to, from)| *to = *from);
    id
}

impl MasterKey {
    fn new(master: &Secret<[u8; 32]>) -> Self {
        Self {
            cipher: XChaCha20Poly1305::new(&Key::from(*master.expose())),
            id: fingerprint(master),
            lookup: keyed(&derived(master)),
        }
    }

    fn lookup_hash(&self, secret: &[u8]) -> [u8; 32] {
        let mut hash = self.lookup.clone();
        hash.update(secret);
        hash.finalize().into_bytes().into()
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault")
    }
}

impl Vault {
    /// A vault with a master key of 32 bytes.
    #[must_use]
    pub fn new(master: &Secret<[u8; 32]>) -> Self {
        Self {
            keys: Arc::new(RwLock::new(Keys {
                sealing: MasterKey::new(master),
                other: None,
            })),
        }
    }

    /// Uses two keys from now on: the first one seals, both open.
    pub fn use_keys(&self, sealing: &Secret<[u8; 32]>, other: &Secret<[u8; 32]>) {
        *self.keys.write() = Keys {
            sealing: MasterKey::new(sealing),
            other: Some(MasterKey::new(other)),
        };
    }

    /// The fingerprint of the key that seals.
    #[must_use]
    pub fn sealing_key(&self) -> KeyFingerprint {
        self.keys.read().sealing.id
    }

    /// Was this value sealed with the key that seals now?
    #[must_use]
    pub fn is_sealed_by_current(&self, sealed: &[u8]) -> bool {
        sealed_by(sealed).is_some_and(|id| id == self.sealing_key())
    }

    /// The hash by which a secret that people have chosen is looked up. It is keyed, so that a copy of the database does not
    /// allow guessing.
    #[must_use]
    pub fn lookup_hash(&self, secret: &[u8]) -> [u8; 32] {
        self.keys.read().sealing.lookup_hash(secret)
    }

    /// The same with the other key while there are two, with the only one otherwise.
    #[must_use]
    pub fn other_lookup_hash(&self, secret: &[u8]) -> [u8; 32] {
        let keys = self.keys.read();
        keys.other.as_ref().unwrap_or(&keys.sealing).lookup_hash(secret)
    }

    /// Seals a secret for one place (`table/column`) of one record; it cannot be opened elsewhere.
    #[expect(clippy::disallowed_methods, reason = "needs real randomness")]
    pub fn seal(&self, place: &str, record: &[u8], secret: &[u8]) -> Result<Vec<u8>> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| StoreError::unavailable("no randomness available"))?;
        let aad = bound_to(place, record);
        let key = self.keys.read().sealing.clone();
        let sealed = key
            .cipher
            .encrypt(
                &XNonce::from(nonce),
                Payload {
                    msg: secret,
                    aad: &aad,
                },
            )
            .map_err(|_| StoreError::internal("sealing failed"))?;
        Ok([&[FORMAT][..], &key.id, &nonce, &sealed].concat())
    }

    /// Was this sealed with a master key that is not here?
    fn has_other_key(&self, sealed: &[u8]) -> bool {
        sealed_by(sealed).is_some_and(|id| self.key(&id).is_none())
    }

    fn key(&self, id: &[u8]) -> Option<MasterKey> {
        let keys = self.keys.read();
        let other = keys.other.as_ref();
        let found = [Some(&keys.sealing), other]
            .into_iter()
            .flatten()
            .find(|key| key.id == id);
        found.cloned()
    }

    /// Opens a value that was sealed for this place of this record.
    pub fn open(&self, place: &str, record: &[u8], sealed: &[u8]) -> Result<Secret<Vec<u8>>> {
        let damaged = || StoreError::corrupt(format!("a sealed value of {place} is damaged"));
        let (head, rest) = sealed.split_at_checked(1 + KEY_ID).ok_or_else(damaged)?;
        let Some((&FORMAT, id)) = head.split_first() else {
            return Err(damaged());
        };
        // The master key was checked when the database was opened, so only this value can be wrong.
        let key = self.key(id).ok_or_else(|| {
            StoreError::corrupt(format!(
                "a sealed value of {place} is damaged, or was sealed with another master key"
            ))
        })?;
        let (nonce, body) = rest.split_at_checked(NONCE).ok_or_else(damaged)?;
        let nonce = <[u8; NONCE]>::try_from(nonce).map_err(|_| damaged())?;
        let aad = bound_to(place, record);
        let opened = key
            .cipher
            .decrypt(&XNonce::from(nonce), Payload { msg: body, aad: &aad });
        opened.map(Secret::new).map_err(|_| damaged())
    }

    pub fn seal_text(&self, place: &str, record: &[u8], secret: &Secret<String>) -> Result<Vec<u8>> {
        self.seal(place, record, secret.expose().as_bytes())
    }

    pub fn open_text(&self, place: &str, record: &[u8], sealed: &[u8]) -> Result<Secret<String>> {
        let opened = self.open(place, record, sealed)?;
        let text = std::str::from_utf8(opened.expose())
            .map_err(|_| StoreError::corrupt(format!("a sealed value of {place} is not text")))?;
        Ok(Secret::new(text.to_owned()))
    }

    pub(crate) fn seal_credentials(&self, record: &[u8], credentials: &Credentials) -> Result<Vec<u8>> {
        let plain: BTreeMap<&str, &str> = credentials
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose().as_str()))
            .collect();
        let json = Secret::new(
            serde_json::to_string(&plain)
                .map_err(|_| StoreError::internal("credentials do not serialise"))?,
        );
        self.seal_text(CREDENTIALS, record, &json)
    }

    pub(crate) fn open_credentials(&self, record: &[u8], sealed: Option<&[u8]>) -> Result<Credentials> {
        let Some(sealed) = sealed else {
            return Ok(Credentials::new());
        };
        let json = self.open_text(CREDENTIALS, record, sealed)?;
        serde_json::from_str(json.expose()).map_err(|_| StoreError::corrupt("stored credentials are damaged"))
    }
}

/// The fingerprint of the key that a value was sealed with.
fn sealed_by(sealed: &[u8]) -> Option<KeyFingerprint> {
    sealed.strip_prefix(&[FORMAT])?.get(..KEY_ID)?.try_into().ok()
}

fn derived(master: &Secret<[u8; 32]>) -> Secret<[u8; 32]> {
    let mut hash = keyed(master);
    hash.update(b"garson look-up of inbound secrets");
    Secret::new(hash.finalize().into_bytes().into())
}

fn keyed(key: &Secret<[u8; 32]>) -> Hmac<Sha256> {
    let mut block = hmac::digest::Key::<Hmac<Sha256>>::default();
    block
        .iter_mut()
        .zip(key.expose())
        .for_each(|(to, from)| *to = *from);
    <Hmac<Sha256> as hmac::KeyInit>::new(&block)
}

const CHECK: &str = "master_key_check/sealed";

/// Has a master key been used with this database yet?
pub fn is_sealed(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(check_value(tx)?.is_some())
}

fn check_value(tx: &mut Tx<'_>) -> Result<Option<Vec<u8>>> {
    tx.query_opt(
        "SELECT sealed FROM master_key_check WHERE id = 1",
        params![],
        |row| row.get(0),
    )
}

/// Refuses a master key other than the one that the database was sealed with; the first key is recorded.
pub fn check_key(tx: &mut Tx<'_>, vault: &Vault) -> Result<()> {
    tx.execute(
        "INSERT INTO master_key_check (id, sealed) VALUES (1, ?1) ON CONFLICT (id) DO NOTHING",
        params![&vault.seal(CHECK, b"", b"")?],
    )?;
    check(vault, &check_value(tx)?.unwrap_or_default())
}

/// The same without writing; a database in which nothing is sealed yet accepts any key.
pub fn verify_key(tx: &mut Tx<'_>, vault: &Vault) -> Result<()> {
    match check_value(tx)? {
        Some(sealed) => check(vault, &sealed),
        None => Ok(()),
    }
}

fn check(vault: &Vault, sealed: &[u8]) -> Result<()> {
    if vault.has_other_key(sealed) {
        return Err(StoreError::refused(
            "the database was sealed with another master key than the one that is set",
        ));
    }
    vault.open(CHECK, b"", sealed).map(drop)
}

/// Seals the check value again, when the database is sealed with another key from now on.
pub fn renew_check(tx: &mut Tx<'_>, vault: &Vault) -> Result<()> {
    tx.execute(
        "UPDATE master_key_check SET sealed = ?1 WHERE id = 1",
        params![&vault.seal(CHECK, b"", b"")?],
    )?;
    Ok(())
}

pub(crate) const CREDENTIALS: &str = "integrations/credentials";

fn bound_to(place: &str, record: &[u8]) -> Vec<u8> {
    [place.as_bytes(), b"/", record].concat()
}

/// The hash by which a secret of high entropy is looked up; for one that people choose, use [`Vault::lookup_hash`].
#[must_use]
pub fn lookup_hash(secret: &[u8]) -> [u8; 32] {
    Sha256::digest(secret).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_opens_only_where_it_was_sealed() {
        let vault = Vault::new(&Secret::new([7; 32]));
        let sealed = vault.seal("keys/sealed", b"one", b"hunter2").unwrap();
        assert!(!sealed.windows(7).any(|w| w == b"hunter2"));
        assert_eq!(
            vault.open("keys/sealed", b"one", &sealed).unwrap().expose(),
            b"hunter2"
        );
        assert!(vault.open("keys/sealed", b"two", &sealed).is_err());
        assert!(vault.open("other/sealed", b"one", &sealed).is_err());
        for at in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            assert!(vault.open("keys/sealed", b"one", &damaged).is_err(), "byte {at}");
            assert!(
                vault.open("keys/sealed", b"one", &sealed[..at]).is_err(),
                "cut at {at}"
            );
        }
    }

    #[test]
    fn lookup_hash_depends_on_the_master_key() {
        let hash = |key| Vault::new(&Secret::new([key; 32])).lookup_hash(b"12345678");
        assert_eq!(hash(7), hash(7));
        assert_ne!(hash(7), hash(8));
        assert_ne!(hash(7), lookup_hash(b"12345678"));
        assert_ne!(
            hash(7),
            Vault::new(&Secret::new([7; 32])).lookup_hash(b"12345679")
        );
    }

    #[test]
    fn two_keys_open_and_one_seals() {
        let (old, new) = (Secret::new([7; 32]), Secret::new([8; 32]));
        let vault = Vault::new(&old);
        let before = vault.seal("a/b", b"", b"x").unwrap();
        let shared = vault.clone();
        vault.use_keys(&new, &old);
        let after = shared.seal("a/b", b"", b"y").unwrap();
        assert_eq!(shared.open("a/b", b"", &before).unwrap().expose(), b"x");
        assert_eq!(shared.open("a/b", b"", &after).unwrap().expose(), b"y");
        assert!(!shared.is_sealed_by_current(&before) && shared.is_sealed_by_current(&after));
        assert!(Vault::new(&old).open("a/b", b"", &after).is_err());
        assert_eq!(Vault::new(&new).open("a/b", b"", &after).unwrap().expose(), b"y");
        assert_eq!(shared.lookup_hash(b"s"), Vault::new(&new).lookup_hash(b"s"));
        assert_eq!(shared.other_lookup_hash(b"s"), Vault::new(&old).lookup_hash(b"s"));
    }

    #[test]
    fn wrong_master_key_is_reported() {
        let sealed = Vault::new(&Secret::new([7; 32])).seal("a/b", b"", b"x").unwrap();
        let error = Vault::new(&Secret::new([8; 32]))
            .open("a/b", b"", &sealed)
            .unwrap_err();
        assert!(error.to_string().contains("another master key"), "{error}");
    }
}
