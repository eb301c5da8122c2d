//! A QR code as an inline SVG. It is black on white in both themes, because cameras expect that.

use askama::Template;
use qrcodegen::{QrCode as Matrix, QrCodeEcc};
use std::fmt::Write as _;

/// The quiet zone around the code, in modules.
const BORDER: i32 = 4;

#[derive(Template)]
#[template(path = "qr_code.html")]
pub struct QrCode {
    label: &'static str,
    /// Modules on a side, with the border.
    size: i32,
    /// The black modules.
    path: String,
}

impl QrCode {
    /// `None` when the text is too long for a QR code.
    pub fn new(text: &str, label: &'static str) -> Option<Self> {
        let matrix = Matrix::encode_text(text, QrCodeEcc::Medium).ok()?;
        let mut path = String::new();
        for y in 0..matrix.size() {
            for x in (0..matrix.size()).filter(|x| matrix.get_module(*x, y)) {
                // Ignored: writing to a String does not fail.
                let _ = write!(path, "M{} {}h1v1h-1z", x + BORDER, y + BORDER);
            }
        }
        Some(Self {
            label,
            size: matrix.size() + 2 * BORDER,
            path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_has_its_finder_patterns() {
        let code = QrCode::new("otpauth://totp/Garson:a?secret=MY", "QR").unwrap();
        assert!(code.path.starts_with("M4 4h1v1h-1z"));
        assert!(code.size >= 21 + 8);
        let svg = code.render().unwrap();
        assert!(svg.contains("role=\"img\"") && svg.contains("aria-label=\"QR\""));
        assert!(QrCode::new(&"a".repeat(5_000), "QR").is_none());
    }
}
