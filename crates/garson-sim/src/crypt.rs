//! The two ciphers that platforms use: signed tokens (HS512) and AES-256-ECB with PKCS7 padding.

use aes::{
    Aes256,
    cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, consts::U16},
};
use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use hmac::{Hmac, Mac};
use serde_json::Value;
use sha2::Sha512;

const BLOCK: usize = 16;

/// A JSON web token that is signed with HMAC and SHA-512.
pub(crate) fn sign_token(claims: &Value, secret: &str) -> Option<String> {
    let header = BASE64_URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"HS512"}"#);
    let signed = format!("{header}.{}", BASE64_URL_SAFE_NO_PAD.encode(claims.to_string()));
    let mut mac = <Hmac<Sha512> as hmac::KeyInit>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(signed.as_bytes());
    let signature = BASE64_URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
    Some(format!("{signed}.{signature}"))
}

/// Encrypts block by block and writes base64; nothing when the key has not 32 bytes.
pub(crate) fn encrypt(plain: &[u8], key: &[u8]) -> Option<String> {
    let cipher = Aes256::new_from_slice(key).ok()?;
    let padding = BLOCK - plain.len() % BLOCK;
    let mut bytes = plain.to_vec();
    bytes.resize(plain.len() + padding, u8::try_from(padding).ok()?);
    for chunk in bytes.chunks_exact_mut(BLOCK) {
        let mut block: Array<u8, U16> = Array::try_from(&*chunk).ok()?;
        cipher.encrypt_block(&mut block);
        chunk.copy_from_slice(&block);
    }
    Some(BASE64_STANDARD.encode(bytes))
}

/// The other way; nothing when key, base64, length or padding are wrong.
pub(crate) fn decrypt(text: &str, key: &[u8]) -> Option<Vec<u8>> {
    let cipher = Aes256::new_from_slice(key).ok()?;
    let mut bytes = BASE64_STANDARD.decode(text).ok()?;
    if bytes.is_empty() || !bytes.len().is_multiple_of(BLOCK) {
        return None;
    }
    for chunk in bytes.chunks_exact_mut(BLOCK) {
        let mut block: Array<u8, U16> = Array::try_from(&*chunk).ok()?;
        cipher.decrypt_block(&mut block);
        chunk.copy_from_slice(&block);
    }
    let padding = usize::from(*bytes.last()?);
    let length = bytes.len().checked_sub(padding)?;
    let is_padded = (1..=BLOCK).contains(&padding)
        && bytes
            .get(length..)?
            .iter()
            .all(|&byte| usize::from(byte) == padding);
    bytes.truncate(length);
    is_padded.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_token_is_as_others_sign_it() {
        // From the published description of the plugin's authentication.
        let token = sign_token(&json!({"service": "middleware"}), "123").unwrap();
        assert_eq!(
            token,
            "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzUxMiJ9.eyJzZXJ2aWNlIjoibWlkZGxld2FyZSJ9.\
             VKb-yT2Zz2e4j7R5ssXzU0Mj5MrQ7yxP1H1YRPFmlVANhOYwadSk-5GepYUBz19KASD0QjwLTWtOKLR63Y_R9g"
        );
    }

    #[test]
    fn a_block_is_as_the_standard_says() {
        // FIPS 197, appendix C.3.
        let key: Vec<u8> = (0..32).collect();
        let plain: Vec<u8> = (0..16).map(|n| n * 0x11).collect();
        let bytes = BASE64_STANDARD.decode(encrypt(&plain, &key).unwrap()).unwrap();
        assert_eq!(bytes[..4], [0x8e, 0xa2, 0xb7, 0xca]);
        assert_eq!(bytes.len(), 32, "a whole block of padding");
    }

    #[test]
    fn what_is_encrypted_comes_back_and_damage_is_noticed() {
        let key = b"0123456789abcdef0123456789abcdef";
        for length in [0, 1, 15, 16, 17, 200] {
            let plain = vec![7; length];
            assert_eq!(decrypt(&encrypt(&plain, key).unwrap(), key), Some(plain));
        }
        let other = b"fedcba9876543210fedcba9876543210";
        assert_ne!(
            decrypt(&encrypt(b"abc", key).unwrap(), other),
            Some(b"abc".to_vec())
        );
        assert_eq!(encrypt(b"abc", b"short"), None);
        assert_eq!(decrypt("!!", key), None);
        assert_eq!(decrypt("AAAA", key), None);
    }
}
