//! The stored form of a menu: JSON, compressed.

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use garson_core::menu::Menu;
use garson_core::time::Timestamp;
use garson_store::tables::menus::MenuVersion;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use thiserror::Error;

/// The largest menu that is decompressed, in bytes of JSON.
const MAX_UNPACKED: u64 = 64 * 1024 * 1024;

#[derive(Debug, Error)]
pub enum PackError {
    #[error("a stored menu cannot be read")]
    Io(#[from] std::io::Error),
    #[error("a stored menu is damaged")]
    Json(#[from] serde_json::Error),
}

/// A menu as a version to be stored; its number is assigned on insert.
pub fn pack(menu: &Menu, read_at: Timestamp) -> Result<MenuVersion, PackError> {
    let json = serde_json::to_vec(menu)?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&json)?;
    let products: usize = menu
        .categories
        .iter()
        .map(|category| category.products.len())
        .sum();
    Ok(MenuVersion {
        number: 0,
        hash: Sha256::digest(&json).to_vec(),
        body: encoder.finish()?,
        products: i64::try_from(products).unwrap_or(i64::MAX),
        read_at,
    })
}

pub fn unpack(version: &MenuVersion) -> Result<Menu, PackError> {
    unpack_body(&version.body)
}

pub fn unpack_body(body: &[u8]) -> Result<Menu, PackError> {
    let mut json = Vec::new();
    DeflateDecoder::new(body)
        .take(MAX_UNPACKED)
        .read_to_end(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::menu::{Category, Product};
    use garson_core::money::{Currency, Minor};

    /// A menu with this many products.
    fn menu(products: usize) -> Menu {
        let product = |number: usize| Product {
            id: format!("{number:024x}"),
            name: format!("Ürün {number}"),
            description: Some("Közlenmiş domates ve biber ile".to_owned()),
            price: Minor(10_000),
            currency: Currency::TRY,
            image_url: Some(format!("https://images.example/{number}.jpg")),
            is_available: true,
            option_groups: Vec::new(),
        };
        Menu {
            categories: vec![Category {
                id: "1".to_owned(),
                name: "Ana".to_owned(),
                position: 0,
                is_available: true,
                products: (0..products).map(product).collect(),
            }],
        }
    }

    #[test]
    fn menu_of_five_thousand_products_is_stored_compactly() {
        let menu = menu(5_000);
        let packed = pack(&menu, Timestamp::default()).unwrap();
        assert_eq!(packed.products, 5_000);
        assert!(packed.body.len() < 200_000, "{} bytes", packed.body.len());
        assert_eq!(unpack(&packed).unwrap(), menu);
    }

    #[test]
    fn damaged_version_is_an_error() {
        let mut packed = pack(&menu(3), Timestamp::default()).unwrap();
        packed.body.truncate(10);
        assert!(unpack(&packed).is_err());
    }
}
