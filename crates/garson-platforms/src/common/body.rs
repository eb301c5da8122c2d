//! Parses a message's body; errors name the path.

use garson_core::json::explain;
use garson_core::platform::Unreadable;
use serde::Deserialize;

pub type Read<T> = Result<T, Unreadable>;

pub fn fault(path: impl Into<String>, message: impl Into<String>) -> Unreadable {
    Unreadable {
        path: path.into(),
        message: message.into(),
    }
}

/// Reads a body. The place of a fault is worked out only when there is one: nearly all messages are fine.
pub fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Read<T> {
    serde_json::from_slice(body).map_err(|error| locate::<T>(body, &error))
}

#[cold]
fn locate<'a, T: Deserialize<'a>>(body: &'a [u8], error: &serde_json::Error) -> Unreadable {
    let parser = &mut serde_json::Deserializer::from_slice(body);
    match serde_path_to_error::deserialize::<_, T>(parser) {
        Err(found) if !error.is_syntax() && !error.is_eof() => {
            let (path, message) = explain(&found.path().to_string(), &found.inner().to_string());
            fault(path, message)
        }
        Err(found) => fault(
            match found.path().to_string() {
                path if path == "." || path == "?" => "$".to_owned(),
                path => path,
            },
            format!("is not JSON: {error}"),
        ),
        // What follows the value is what is wrong.
        Ok(_) => fault("$", format!("is not JSON: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Outer {
        inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        price: i64,
    }

    #[test]
    fn the_place_of_a_fault_is_named() {
        let at = |body: &str| {
            parse::<Outer>(body.as_bytes())
                .map(|outer| outer.inner.iter().map(|inner| inner.price).sum::<i64>())
                .map_err(|e| e.path)
        };
        assert_eq!(at(r#"{"inner":[{"price":1},{"price":2}]}"#), Ok(3));
        assert_eq!(
            at(r#"{"inner":[{"price":1},{"price":"x"}]}"#),
            Err("inner[1].price".to_owned())
        );
        assert_eq!(at(r#"{"inner":[{}]}"#), Err("inner[0].price".to_owned()));
        assert_eq!(at("{}"), Err("inner".to_owned()));
        assert_eq!(at(""), Err("$".to_owned()));
        assert_eq!(at(r#"{"inner":[]} x"#), Err("$".to_owned()));
        assert!(at(r#"{"inner":[{"price":1"#).is_err());
    }
}
