//! Fills the placeholders of a request template, with values escaped for the place where they stand.

use std::fmt::Write as _;

/// Where a value is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    Url,
    /// Inside a string of a JSON document.
    Json,
    /// Inside a value of an urlencoded form.
    Form,
    Xml,
    /// A value of a header.
    Header,
    Plain,
}

impl Context {
    /// The context of a body with this content type.
    #[must_use]
    pub fn of_content_type(content_type: &str) -> Self {
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        let kind = kind.to_ascii_lowercase();
        if kind == "application/json" || kind.ends_with("+json") {
            Self::Json
        } else if kind == "application/x-www-form-urlencoded" {
            Self::Form
        } else if kind == "text/xml" || kind == "application/xml" || kind.ends_with("+xml") {
            Self::Xml
        } else {
            Self::Plain
        }
    }

    fn escape(self, value: &str, out: &mut String) {
        for c in value.chars() {
            match self {
                Self::Url => percent(c, out, "%20"),
                Self::Form => percent(c, out, "+"),
                Self::Json => match c {
                    '"' => out.push_str("\\\""),
                    '\\' => out.push_str("\\\\"),
                    '\n' => out.push_str("\\n"),
                    c if u32::from(c) < 0x20 => {
                        // Writing to a String cannot fail.
                        let _ = write!(out, "\\u{:04x}", u32::from(c));
                    }
                    c => out.push(c),
                },
                Self::Xml => match c {
                    '&' => out.push_str("&amp;"),
                    '<' => out.push_str("&lt;"),
                    '>' => out.push_str("&gt;"),
                    '"' => out.push_str("&quot;"),
                    '\'' => out.push_str("&apos;"),
                    c if c.is_control() => out.push(' '),
                    c => out.push(c),
                },
                Self::Header | Self::Plain => out.push(if c.is_control() { ' ' } else { c }),
            }
        }
    }
}

fn percent(c: char, out: &mut String, space: &str) {
    match c {
        ' ' => out.push_str(space),
        c if c.is_ascii_alphanumeric() || "-._~".contains(c) => out.push(c),
        c => {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a String cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}

/// Replaces each `{name}` whose name `value` knows. Other braces stay: a JSON document has its own.
#[must_use]
pub fn fill<'v>(template: &str, context: Context, value: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        match after.split_once('}') {
            Some((name, tail)) if is_name(name) && value(name).is_some() => {
                context.escape(value(name).unwrap_or_default(), &mut out);
                rest = tail;
            }
            _ => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The names in braces that could be placeholders.
pub fn names(template: &str) -> impl Iterator<Item = &str> {
    template
        .split('{')
        .skip(1)
        .filter_map(|part| part.split_once('}').map(|(name, _)| name))
        .filter(|name| is_name(name))
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '-';
    !name.is_empty() && name.len() <= 60 && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, context: Context) -> String {
        fill(template, context, |name| match name {
            "text" => Some("Ali \"7\" & <b>\nŞ"),
            _ => None,
        })
    }

    #[test]
    fn values_are_escaped_for_their_place() {
        assert_eq!(
            filled("https://a/?m={text}", Context::Url),
            "https://a/?m=Ali%20%227%22%20%26%20%3Cb%3E%0A%C5%9E"
        );
        assert_eq!(
            filled("m={text}", Context::Form),
            "m=Ali+%227%22+%26+%3Cb%3E%0A%C5%9E"
        );
        let json = filled(r#"{"m":{"t":"{text}"}}"#, Context::Json);
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["m"]["t"], "Ali \"7\" & <b>\nŞ");
        assert_eq!(
            filled("<m>{text}</m>", Context::Xml),
            "<m>Ali &quot;7&quot; &amp; &lt;b&gt; Ş</m>"
        );
        assert_eq!(filled("{text}", Context::Header), "Ali \"7\" & <b> Ş");
    }

    #[test]
    fn other_braces_stay() {
        for same in [
            "{}",
            "{unknown}",
            "{ text }",
            "a{",
            "}",
            "{{",
            "{\"a\":{\"b\":1}}",
        ] {
            assert_eq!(filled(same, Context::Plain), same);
        }
        assert_eq!(filled("{{text}}", Context::Json).matches('{').count(), 1);
    }

    #[test]
    fn a_value_is_not_filled_again() {
        let out = fill("{a}", Context::Plain, |name| match name {
            "a" => Some("{b}"),
            "b" => Some("no"),
            _ => None,
        });
        assert_eq!(out, "{b}");
    }

    #[test]
    fn body_context_follows_the_content_type() {
        for (given, wanted) in [
            ("application/json; charset=utf-8", Context::Json),
            ("application/problem+json", Context::Json),
            ("application/x-www-form-urlencoded", Context::Form),
            ("TEXT/XML", Context::Xml),
            ("text/plain", Context::Plain),
            ("", Context::Plain),
        ] {
            assert_eq!(Context::of_content_type(given), wanted, "{given}");
        }
    }
}
