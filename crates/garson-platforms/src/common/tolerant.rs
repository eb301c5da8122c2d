//! Reading a message although a part of it is odd. An order is not lost for a flag that came as a text: what cannot be
//! read is left out, and the order carries a note of it. Only a connector's essentials must be readable.
//!
//! The message is read strictly first. When that fails, the place that was named is taken out of the document and it is
//! read again: the typical order pays nothing for this.

use super::body::{Read, fault};
use garson_core::json::{self, FaultKind};
use garson_core::order::{ContentVersion, ReadingNote};
use garson_core::platform::{Message, News, Unreadable};
use serde_json::Value;
use std::borrow::Cow;

/// How much may be parsed again, in bytes, before a message is given up.
const MAX_WORK: usize = 16 * 1024 * 1024;
const MAX_REPAIRS: usize = 500;
/// As many notes as people read, and as much of a value.
const MAX_NOTES: usize = 50;
const MAX_VALUE: usize = 200;

/// Places of a document that must be readable, such as `id` and `products[]`; `[]` matches any index.
pub type Essentials = &'static [&'static str];

/// Reads a message, without the parts that cannot be read. `wrapper` is the field that an order may be packed into.
pub fn read(
    body: &[u8],
    essentials: Essentials,
    wrapper: &str,
    strict: impl Fn(&[u8]) -> Read<Message>,
) -> Read<Message> {
    match strict(body) {
        Ok(message) => Ok(message),
        Err(found) => Repair::start(body, essentials, wrapper, found)?.run(&strict),
    }
}

/// Adds notes to the order that a message holds.
pub fn add_notes(message: &mut Message, notes: Vec<ReadingNote>) {
    if let News::Order(sighting) = &mut message.news {
        let kept = &mut sighting.order.content.reading_notes;
        kept.splice(0..0, notes);
        kept.truncate(MAX_NOTES);
    }
}

pub fn note(path: impl Into<String>, message: impl Into<String>) -> ReadingNote {
    ReadingNote {
        path: path.into(),
        message: message.into(),
    }
}

struct Repair<'a> {
    document: Value,
    size: usize,
    essentials: Essentials,
    wrapper: &'a str,
    /// Elements that were removed: their list, and their index in the original message.
    removed: Vec<(Vec<Step>, usize)>,
    notes: Vec<ReadingNote>,
    found: Unreadable,
}

impl<'a> Repair<'a> {
    #[cold]
    fn start(body: &[u8], essentials: Essentials, wrapper: &'a str, found: Unreadable) -> Read<Self> {
        let repeated = |body: &[u8]| matches!(json::check(body), Err(f) if f.kind == FaultKind::RepeatedKey);
        let clean = valid_unicode(body);
        // It is ambiguous which of the two values is meant.
        let document: Value = match serde_json::from_slice(&clean) {
            Ok(document) if !repeated(&clean) => document,
            _ => return Err(found),
        };
        let mut repair = Self {
            document,
            size: clean.len(),
            essentials,
            wrapper,
            removed: Vec::new(),
            notes: Vec::new(),
            found,
        };
        if let Cow::Owned(_) = clean {
            repair.note_replaced_characters()?;
        }
        Ok(repair)
    }

    fn run(mut self, strict: &impl Fn(&[u8]) -> Read<Message>) -> Read<Message> {
        let repairs = (MAX_WORK / self.size.max(1)).clamp(1, MAX_REPAIRS);
        for _ in 0..repairs {
            match strict(self.document.to_string().as_bytes()) {
                Ok(mut message) => {
                    if let News::Order(sighting) = &mut message.news
                        && self.is_doubtful()
                    {
                        // Good enough for an order that would be lost otherwise, not to change one that is known.
                        sighting.order.version = ContentVersion::Unchanging;
                    }
                    add_notes(&mut message, self.notes);
                    return Ok(message);
                }
                Err(found) => self.found = found,
            }
            if !self.take_out() {
                break;
            }
        }
        Err(self.found)
    }

    /// Takes the place that cannot be read out of the document, or what it should be a part of.
    fn take_out(&mut self) -> bool {
        let Some(mut path) = steps(&self.found.path) else {
            return false;
        };
        let mut is_missing = false;
        // A field that is null is a field that is missing.
        while at(&mut self.document, &path)
            .is_none_or(|value| value.is_null() && matches!(path.last(), Some(Step::Key(_))))
        {
            if path.is_empty() {
                return false;
            }
            path.pop();
            is_missing = true;
        }
        // The order itself is not an odd part of its envelope.
        let is_order = is_missing && path == [Step::Key(self.wrapper.to_owned())];
        if path.is_empty() || is_order || self.is_essential(&path) {
            return false;
        }
        let place = self.original(&path);
        let Some(value) = at(&mut self.document, &path) else {
            return false;
        };
        let written = value.to_string();
        let is_element = matches!(path.last(), Some(Step::Index(_)));
        if is_element && !is_missing && !value.is_object() {
            // It still counts as one of them.
            *value = Value::Object(serde_json::Map::new());
        } else if let Some(last) = path.pop() {
            match (at(&mut self.document, &path), last) {
                (Some(Value::Object(fields)), Step::Key(name)) => drop(fields.remove(&name)),
                (Some(Value::Array(list)), Step::Index(index)) if index < list.len() => {
                    list.remove(index);
                    let original = match place.last() {
                        Some(Step::Index(original)) => *original,
                        _ => index,
                    };
                    self.removed.push((path, original));
                }
                _ => return false,
            }
        }
        let why = &self.found.message;
        let value: String = written.chars().take(MAX_VALUE).collect();
        self.notes.push(note(
            display(&place),
            format!("could not be read ({why}) and was left out: {value}"),
        ));
        true
    }

    /// Was something left out of what is to be cooked or to be paid?
    fn is_doubtful(&self) -> bool {
        let is_within_essential = |note: &ReadingNote| {
            let path = steps(&note.path).unwrap_or_default();
            let mut names = path.iter().filter_map(|step| match step {
                Step::Key(name) => Some(name.as_str()),
                Step::Index(_) => None,
            });
            let first = names.find(|name| *name != self.wrapper);
            first.is_some_and(|name| self.essentials.contains(&name))
        };
        self.notes.iter().any(is_within_essential)
    }

    fn is_essential(&self, path: &[Step]) -> bool {
        let place = pattern(path);
        let bare = match self.wrapper {
            "" => place.as_str(),
            wrapper => place.strip_prefix(&format!("{wrapper}.")).unwrap_or(&place),
        };
        self.essentials.contains(&bare)
    }

    /// The path in the original message: elements before it may have been removed from its list.
    fn original(&self, path: &[Step]) -> Vec<Step> {
        let mut place = path.to_vec();
        if let Some((Step::Index(index), list)) = place.split_last_mut() {
            let mut gone: Vec<usize> = self
                .removed
                .iter()
                .filter(|(of, _)| of == list)
                .map(|(_, index)| *index)
                .collect();
            gone.sort_unstable();
            for removed in gone {
                *index += usize::from(removed <= *index);
            }
        }
        place
    }

    /// Notes the texts in which characters were replaced; what identifies an order must have come whole.
    fn note_replaced_characters(&mut self) -> Read<()> {
        let mut places = Vec::new();
        replaced(&self.document, &mut Vec::new(), &mut places);
        for path in places {
            if self.is_essential(&path) {
                return Err(fault(display(&path), "holds characters that do not exist"));
            }
            let message = "holds characters that do not exist; they were replaced";
            self.notes.push(note(display(&path), message));
        }
        Ok(())
    }
}

/// The texts of a document that hold a replaced character.
fn replaced(value: &Value, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    match value {
        Value::String(text) if text.contains(char::REPLACEMENT_CHARACTER) => found.push(path.clone()),
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                path.push(Step::Index(index));
                replaced(inner, path, found);
                path.pop();
            }
        }
        Value::Object(fields) => {
            for (name, inner) in fields {
                path.push(Step::Key(name.clone()));
                replaced(inner, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The body with every character that does not exist replaced: bytes that are not UTF-8, and halves of a pair (`\ud800`).
fn valid_unicode(body: &[u8]) -> Cow<'_, [u8]> {
    let text = String::from_utf8_lossy(body);
    let is_changed = matches!(text, Cow::Owned(_));
    match without_lone_surrogates(&text) {
        Some(text) => Cow::Owned(text.into_bytes()),
        None if is_changed => Cow::Owned(text.into_owned().into_bytes()),
        None => Cow::Borrowed(body),
    }
}

/// The text of a document with lone surrogate escapes replaced; nothing where it has none.
fn without_lone_surrogates(text: &str) -> Option<String> {
    const ESCAPE: usize = 6;
    let unit = |at: usize| {
        let digits = text.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut written = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += next;
        at += match (unit(at), unit(at + ESCAPE)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 2 * ESCAPE,
            (Some(0xD800..=0xDFFF), _) => {
                written.push_str(text.get(copied..at)?);
                written.push_str("\\ufffd");
                copied = at + ESCAPE;
                ESCAPE
            }
            // The character after a backslash is never the start of another escape.
            _ => 1 + text.get(at + 1..)?.chars().next().map_or(0, char::len_utf8),
        };
    }
    if copied == 0 {
        return None;
    }
    written.push_str(text.get(copied..)?);
    Some(written)
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// The steps of a path such as `products[2].options[0].name`; nothing where it is not one.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, indexes) = part.split_at(part.find('[').unwrap_or(part.len()));
        if !name.is_empty() {
            steps.push(Step::Key(name.to_owned()));
        }
        for index in indexes.split_terminator(']') {
            steps.push(Step::Index(index.strip_prefix('[')?.parse().ok()?));
        }
    }
    Some(steps)
}

fn display(path: &[Step]) -> String {
    write(path, |index| format!("[{index}]"))
}

/// A place with `[]` for every index.
fn pattern(path: &[Step]) -> String {
    write(path, |_| "[]".to_owned())
}

fn write(path: &[Step], index: impl Fn(usize) -> String) -> String {
    let mut written = String::new();
    for step in path {
        match step {
            Step::Index(at) => written.push_str(&index(*at)),
            Step::Key(name) => {
                if !written.is_empty() {
                    written.push('.');
                }
                written.push_str(name);
            }
        }
    }
    written
}

fn at<'v>(document: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(document, |value, step| match step {
        Step::Key(name) => value.as_object_mut()?.get_mut(name),
        Step::Index(index) => value.as_array_mut()?.get_mut(*index),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_are_kept() {
        for (text, expected) in [
            (r#"{"a":"x"}"#, None),
            (r#"{"a":"\ud83c\udf2f \n \\ud800"}"#, None),
            (r#"{"a":"\ud800"}"#, Some(r#"{"a":"\ufffd"}"#)),
            (r#"{"a":"\udc00b\uD83C"}"#, Some(r#"{"a":"\ufffdb\ufffd"}"#)),
            (
                r#"{"a":"\ud800\ud83c\udf2f"}"#,
                Some(r#"{"a":"\ufffd\ud83c\udf2f"}"#),
            ),
            (r#"{"a":"\\\ud800"}"#, Some(r#"{"a":"\\\ufffd"}"#)),
            (r#"{"a":"\ud8"#, None),
            ("\\", None),
            ("\\ğ", None),
        ] {
            assert_eq!(without_lone_surrogates(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn paths_are_taken_apart_and_put_together() {
        for path in ["id", "products[0]", "a.b[3][4].c"] {
            assert_eq!(steps(path).map(|steps| display(&steps)), Some(path.to_owned()));
        }
        assert_eq!(steps("a[x]"), None);
        let deep = steps("products[3].options[0].name").map(|steps| pattern(&steps));
        assert_eq!(deep.as_deref(), Some("products[].options[].name"));
    }
}
