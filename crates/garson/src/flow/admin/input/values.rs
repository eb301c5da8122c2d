//! Values of fields that hold what their rules allow.
use garson_core::field_problem::FieldProblem;

/// Text of a bounded number of characters; with a lower bound it must also have a visible character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<const MIN: usize, const MAX: usize>(String);

/// A name or another short line.
pub type Name = Text<1, 200>;
/// A short line that may be empty.
pub type Line = Text<0, 200>;
/// Some sentences.
pub type Prose = Text<0, 2000>;
/// An id of another system.
pub type ForeignId = Text<1, 100>;
/// A credential of a platform.
pub type CredentialText = Text<1, 2000>;

impl<const MIN: usize, const MAX: usize> Text<MIN, MAX> {
    pub fn parse(text: String) -> Result<Self, FieldProblem> {
        let length = text.chars().count();
        let is_visible = MIN == 0 || text.chars().any(|c| !c.is_whitespace() && !c.is_control());
        if (MIN..=MAX).contains(&length) && is_visible {
            return Ok(Self(text));
        }
        Err(match MIN {
            0 => FieldProblem::TooLong { max: MAX },
            _ => FieldProblem::Length { min: MIN, max: MAX },
        })
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Degrees from `-MAX` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Degrees<const MAX: i32>(f64);

impl<const MAX: i32> Degrees<MAX> {
    pub fn parse(value: f64) -> Result<Self, FieldProblem> {
        let max = i64::from(MAX);
        if value.abs() <= f64::from(MAX) {
            Ok(Self(value))
        } else {
            Err(FieldProblem::NotBetween { min: -max, max })
        }
    }

    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

/// A JSON object, byte for byte as it was given.
#[derive(Clone, Debug)]
pub struct JsonObject(String);

const MAX_OBJECT: usize = 16 * 1024;

impl JsonObject {
    /// Takes text that is valid JSON.
    pub fn parse(json: &str) -> Result<Self, FieldProblem> {
        let text = json.trim();
        if !text.starts_with('{') {
            return Err(FieldProblem::text("must be an object"));
        }
        if text.len() > MAX_OBJECT {
            return Err(FieldProblem::text("must be at most 16 KiB"));
        }
        Ok(Self(text.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_limited_in_characters_not_bytes() {
        let is_name = |text: &str| Name::parse(text.to_owned()).is_ok();
        assert!(is_name(&"ş".repeat(200)) && !is_name(&"ş".repeat(201)));
        assert!(!is_name("") && !is_name("  \t") && is_name("🌯"));
    }

    #[test]
    fn objects_are_kept_byte_for_byte() {
        let json = "{ \"a\" : 1.0e2,\"b\":\"\\u0131\" }";
        assert_eq!(JsonObject::parse(json).unwrap().as_str(), json);
        assert!(JsonObject::parse("[]").is_err());
    }

    #[test]
    fn degrees_are_bounded_on_both_sides() {
        assert!(Degrees::<90>::parse(-90.0).is_ok());
        for wrong in [90.1, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(
                Degrees::<90>::parse(wrong),
                Err(FieldProblem::NotBetween { min: -90, max: 90 })
            );
        }
    }
}
