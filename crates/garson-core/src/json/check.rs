//! Checks a document before it is parsed.

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// The deepest nesting that is accepted.
pub const MAX_DEPTH: usize = 32;

/// What is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// Its path, such as `items[2].name`; `$` is the document itself.
    pub path: String,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It is not JSON.
    Broken,
    /// It is nested too deeply.
    TooDeep,
    /// A key occurs twice in one object.
    RepeatedKey,
    /// A string contains a NUL character.
    Nul,
}

/// Checks a whole document.
pub fn check(bytes: &[u8]) -> Result<(), Fault> {
    let mut walk = Walk {
        path: Vec::new(),
        fault: None,
    };
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let walked = Node(&mut walk)
        .deserialize(&mut parser)
        .and_then(|()| parser.end());
    match (walked, walk.fault.take()) {
        (Ok(()), None) => Ok(()),
        (_, Some(fault)) => Err(fault),
        (Err(error), None) => {
            let message = error.to_string();
            let kind = if message.contains("recursion limit") {
                FaultKind::TooDeep
            } else {
                FaultKind::Broken
            };
            Err(Fault {
                kind,
                path: "$".to_owned(),
                message,
            })
        }
    }
}

enum Step<'de> {
    Key(Cow<'de, str>),
    Index(usize),
}

struct Walk<'de> {
    path: Vec<Step<'de>>,
    fault: Option<Fault>,
}

impl<'de> Walk<'de> {
    fn fail<E: de::Error>(&mut self, kind: FaultKind, message: &str) -> E {
        let fault = Fault {
            kind,
            path: self.written_path(),
            message: message.to_owned(),
        };
        self.fault = Some(fault);
        E::custom(message)
    }

    fn written_path(&self) -> String {
        let mut written = String::new();
        for step in &self.path {
            match step {
                Step::Index(index) => written.push_str(&format!("[{index}]")),
                Step::Key(key) => {
                    if !written.is_empty() {
                        written.push('.');
                    }
                    for char in key.chars().take(100) {
                        match char {
                            // The path is stored as text, which cannot contain one either.
                            '\0' => written.push_str("\\u0000"),
                            char => written.push(char),
                        }
                    }
                }
            }
        }
        if written.is_empty() {
            "$".to_owned()
        } else {
            written
        }
    }

    fn enter<E: de::Error>(&mut self, step: Step<'de>) -> Result<(), E> {
        self.path.push(step);
        if self.path.len() > MAX_DEPTH {
            let message = format!("is nested more than {MAX_DEPTH} deep");
            return Err(self.fail(FaultKind::TooDeep, &message));
        }
        Ok(())
    }
}

/// The keys of an object so far. Most objects have few, for which comparing them costs less than hashing.
#[derive(Default)]
struct Keys<'de> {
    first: Vec<Cow<'de, str>>,
    others: HashSet<Cow<'de, str>>,
}

impl<'de> Keys<'de> {
    const FEW: usize = 16;

    /// Adds a key; `false` if it is already there.
    fn insert(&mut self, key: Cow<'de, str>) -> bool {
        if self.first.contains(&key) {
            return false;
        }
        if self.first.len() < Self::FEW {
            self.first.push(key);
            return true;
        }
        self.others.insert(key)
    }
}

/// A key, borrowed from the document where possible.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

struct Node<'a, 'de>(&'a mut Walk<'de>);

impl<'de> DeserializeSeed<'de> for Node<'_, 'de> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        if text.contains('\0') {
            Err(self.0.fail(FaultKind::Nul, "holds a NUL character"))
        } else {
            Ok(())
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        for index in 0.. {
            self.0.enter(Step::Index(index))?;
            if seq.next_element_seed(Node(self.0))?.is_none() {
                break;
            }
            self.0.path.pop();
        }
        self.0.path.pop();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = Keys::default();
        while let Some(key) = map.next_key_seed(Key)? {
            self.0.enter(Step::Key(key.clone()))?;
            if key.contains('\0') {
                return Err(self.0.fail(FaultKind::Nul, "holds a NUL character"));
            }
            if !seen.insert(key) {
                return Err(self.0.fail(FaultKind::RepeatedKey, "occurs twice"));
            }
            map.next_value_seed(Node(self.0))?;
            self.0.path.pop();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(json: &str) -> Option<(FaultKind, String)> {
        check(json.as_bytes()).err().map(|fault| (fault.kind, fault.path))
    }

    #[test]
    fn good_documents_pass() {
        for json in [
            "{}",
            "null",
            "[1,2.5,-3,true,null,\"ş\"]",
            r#"{"a":{"a":[{"a":1},{"a":2}]}}"#,
        ] {
            assert_eq!(fault(json), None, "{json}");
        }
    }

    #[test]
    fn keys_are_compared_in_large_objects_too() {
        let many = |last: &str| {
            let keys: Vec<String> = (0..100).map(|n| format!("\"k{n}\":{n}")).collect();
            format!("{{{},\"{last}\":0}}", keys.join(","))
        };
        assert_eq!(fault(&many("other")), None);
        for last in ["k0", "k15", "k16", "k99", "k\\u0030"] {
            assert!(
                fault(&many(last)).is_some_and(|(kind, _)| kind == FaultKind::RepeatedKey),
                "{last}"
            );
        }
    }

    #[test]
    fn faults_are_found_where_they_stand() {
        let at = |kind, path: &str| Some((kind, path.to_owned()));
        assert_eq!(fault("{"), at(FaultKind::Broken, "$"));
        assert_eq!(fault("{} {}"), at(FaultKind::Broken, "$"));
        assert_eq!(fault(r#"{"a":1,"a":1}"#), at(FaultKind::RepeatedKey, "a"));
        assert_eq!(
            fault(r#"{"x":[{},{"b":1,"b":2}]}"#),
            at(FaultKind::RepeatedKey, "x[1].b")
        );
        assert_eq!(fault(r#"{"a":["ok","\u0000"]}"#), at(FaultKind::Nul, "a[1]"));
        assert_eq!(fault(r#"{"a\u0000b":1}"#), at(FaultKind::Nul, r"a\u0000b"));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(fault(&nested(MAX_DEPTH)), None);
        for depth in [MAX_DEPTH + 1, 127, 129, 100_000] {
            assert_eq!(
                fault(&nested(depth)).map(|(kind, _)| kind),
                Some(FaultKind::TooDeep),
                "{depth}"
            );
        }
    }
}
