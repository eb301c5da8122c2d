//! Errors of the parser in plain words.

use crate::field_problem::FieldProblem;

/// An error of the parser in plain words: the path of the field, and the problem.
#[must_use]
pub fn explain(path: &str, message: &str) -> (String, String) {
    let (place, problem) = problem(path, message);
    (place, problem.to_string())
}

/// The same, with the problem as a value.
#[must_use]
pub fn problem(path: &str, message: &str) -> (String, FieldProblem) {
    // Line, column and the names of our types are of no use to the client.
    let message = message.rsplit_once(" at line ").map_or(message, |(text, _)| text);
    let whole = path == ".";
    // A missing field is reported at its parent, with its name in the message.
    if let Some(name) = message
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'))
    {
        return (within(path, name), FieldProblem::Required);
    }
    let unknown = message
        .strip_prefix("unknown field `")
        .and_then(|rest| rest.split_once('`'));
    if let Some((name, _)) = unknown {
        return (within(path, name), FieldProblem::Unknown);
    }
    let place = if whole { "$".to_owned() } else { path.to_owned() };
    if let Some(problem) = outside_of_type(message) {
        return (place, problem);
    }
    (place, FieldProblem::of_parser(&without_value(message)))
}

/// The path of a field of the object at a path.
fn within(path: &str, name: &str) -> String {
    if path == "." {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// A number that its field cannot hold: the error names the limits, which the parser's does not.
fn outside_of_type(message: &str) -> Option<FieldProblem> {
    let rest = message
        .strip_prefix("invalid value: ")
        .or_else(|| message.strip_prefix("invalid type: "))?;
    let (found, expected) = rest.rsplit_once(", expected ")?;
    if !found.starts_with("integer ") && !found.starts_with("floating point ") {
        return None;
    }
    let (min, max) = match expected {
        "u8" => (0, i64::from(u8::MAX)),
        "u16" => (0, i64::from(u16::MAX)),
        "u32" => (0, i64::from(u32::MAX)),
        "u64" | "usize" => (0, i64::MAX),
        "i8" => (i64::from(i8::MIN), i64::from(i8::MAX)),
        "i16" => (i64::from(i16::MIN), i64::from(i16::MAX)),
        "i32" => (i64::from(i32::MIN), i64::from(i32::MAX)),
        "i64" | "isize" => (i64::MIN, i64::MAX),
        _ => return None,
    };
    Some(FieldProblem::NotWholeNumber { min, max })
}

/// What a value must be, in words of JSON, without the value that was sent: it may be personal data.
fn without_value(message: &str) -> String {
    let split = |start: &str| message.strip_prefix(start)?.rsplit_once(", expected ");
    if let Some((found, expected)) = split("invalid type: ") {
        return match json_type(found) {
            Some(found) => format!("must be {}, not {found}", plain_type(expected)),
            None => format!("must be {}", plain_type(expected)),
        };
    }
    if let Some((_, expected)) = split("unknown variant ") {
        return format!("must be {expected}");
    }
    match split("invalid value: ") {
        Some((_, expected)) => format!("must be {}", plain_type(expected)),
        None => message.to_owned(),
    }
}

/// What the parser found, which it names before the value.
fn json_type(found: &str) -> Option<&'static str> {
    match found.split([' ', '`', '"']).next()? {
        "map" => Some("an object"),
        "sequence" => Some("a list"),
        "string" => Some("a string"),
        "integer" | "floating" => Some("a number"),
        "boolean" => Some("true or false"),
        "null" => Some("null"),
        _ => None,
    }
}

/// The name of a Rust type for clients.
fn plain_type(expected: &str) -> &str {
    match expected {
        "a map" => "an object",
        "a sequence" => "a list",
        other if other.starts_with("struct ") => "an object",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number, not negative",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named() {
        let path = |message: &str| explain(".", message);
        assert_eq!(path("missing field `role`").0, "role");
        let unknown = "unknown field `restaurants` at line 1 column 40";
        assert_eq!(path(unknown).0, "restaurants");
        assert_eq!(
            explain("steps[1]", "unknown field `x`, expected `y`").0,
            "steps[1].x"
        );
    }

    #[test]
    fn types_have_plain_names() {
        let said = |message: &str| explain("amount.total", message).1;
        assert_eq!(
            said("invalid type: string \"7\", expected i64 at line 1 column 3"),
            "must be a whole number, not a string"
        );
        for message in [
            "invalid value: integer `-1`, expected u32",
            "invalid value: integer `5000000000`, expected u32 at line 1 column 20",
            "invalid type: floating point `1e30`, expected u32",
        ] {
            assert_eq!(
                said(message),
                "must be a whole number from 0 to 4294967295",
                "{message}"
            );
        }
        for (message, plain) in [
            (
                "invalid type: map, expected a string",
                "must be a string, not an object",
            ),
            (
                "invalid type: sequence, expected struct NewKey at line 1 column 0",
                "must be an object, not a list",
            ),
            (
                "invalid type: null, expected a boolean",
                "must be true or false, not null",
            ),
            (
                "invalid type: floating point `1.5`, expected a sequence",
                "must be a list, not a number",
            ),
            (
                "invalid value: string \"Ayşe\", expected a date",
                "must be a date",
            ),
            (
                "unknown variant `Ayşe`, expected one of `a`, `b`",
                "must be one of `a`, `b`",
            ),
        ] {
            assert_eq!(said(message), plain, "{message}");
        }
    }
}
