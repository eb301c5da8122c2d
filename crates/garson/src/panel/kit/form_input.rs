//! Fields of a form as checked values of the application layer.

use super::form_data::FormData;
use crate::flow::Fault;
use crate::flow::admin::input::{Degrees, Patch, Text};
use garson_core::field_problem::FieldProblem;

/// A field's text, with line breaks as `\n` instead of the browsers' `\r\n`; `None` when it is empty.
fn non_empty(fields: &FormData, name: &str) -> Option<String> {
    fields.non_empty(name).map(|text| text.replace("\r\n", "\n"))
}

/// A text that has to be given.
pub fn required<const MIN: usize, const MAX: usize>(
    fields: &FormData,
    name: &str,
) -> Result<Text<MIN, MAX>, Fault> {
    Text::parse(fields.get(name).to_owned()).map_err(|problem| Fault::invalid(name, problem))
}

/// A text that may be missing.
pub fn optional<const MIN: usize, const MAX: usize>(
    fields: &FormData,
    name: &str,
) -> Result<Option<Text<MIN, MAX>>, Fault> {
    non_empty(fields, name)
        .map(|text| Text::parse(text).map_err(|problem| Fault::invalid(name, problem)))
        .transpose()
}

/// A text of an update: an empty field clears it.
pub fn patch<const MIN: usize, const MAX: usize>(
    fields: &FormData,
    name: &str,
) -> Result<Patch<Text<MIN, MAX>>, Fault> {
    optional(fields, name).map(Into::into)
}

/// Degrees with a decimal point or comma; an empty field clears them.
pub fn degrees<const MAX: i32>(fields: &FormData, name: &str) -> Result<Patch<Degrees<MAX>>, Fault> {
    let invalid = |problem: FieldProblem| Fault::invalid(name, problem);
    let parse = |text: String| {
        let number = text
            .replace(',', ".")
            .parse()
            .ok()
            .filter(|n: &f64| n.is_finite());
        let number = number.ok_or_else(|| invalid(FieldProblem::NotNumber))?;
        Degrees::parse(number).map_err(invalid)
    };
    Ok(non_empty(fields, name).map(parse).transpose()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_accept_a_decimal_point_or_comma() {
        let sent = FormData::parse(b"a=41%2C5&b=-3.25&c=20&d=abc&e=&f=nan&g=91");
        let read = |name| degrees::<90>(&sent, name).map_err(|_| ());
        let set = |value| Ok(Patch::Set(Degrees::parse(value).unwrap()));
        assert_eq!(
            (read("a"), read("b"), read("c")),
            (set(41.5), set(-3.25), set(20.0))
        );
        assert_eq!((read("e"), read("missing")), (Ok(Patch::Clear), Ok(Patch::Clear)));
        for wrong in ["d", "f", "g"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
