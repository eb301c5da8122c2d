//! Personal data of customers in orders: who it is about, and how it is erased while everything that is counted stays.

use crate::order::{Cancellation, ChangedField, ContentChange, OrderContent, TimelineReason};
use crate::search::{folded, phone_key};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whose orders are looked for. Everything that is given must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerQuery {
    /// The number in one form, see [`phone_key`].
    phone: Option<String>,
    /// In small letters.
    email: Option<String>,
    /// The words of the name, folded.
    name: Option<Vec<String>>,
}

/// No customer is named by what was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongQuery {
    Empty,
    NotPhone,
    NotEmail,
    NotName,
}

impl CustomerQuery {
    /// Reads what people type; empty texts are none.
    pub fn new(phone: Option<&str>, email: Option<&str>, name: Option<&str>) -> Result<Self, WrongQuery> {
        let given = |text: Option<&str>| {
            let text = text.map(str::trim).filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        let phone = match given(phone) {
            Some(text) => Some(phone_key(&text).ok_or(WrongQuery::NotPhone)?),
            None => None,
        };
        let email = match given(email) {
            Some(text) if !text.contains('@') => return Err(WrongQuery::NotEmail),
            text => text.map(|text| text.to_lowercase()),
        };
        let name = match given(name) {
            Some(text) => Some(name_words(&text).ok_or(WrongQuery::NotName)?),
            None => None,
        };
        if phone.is_none() && email.is_none() && name.is_none() {
            return Err(WrongQuery::Empty);
        }
        Ok(Self { phone, email, name })
    }

    /// Is the order one of this customer?
    #[must_use]
    pub fn matches(&self, content: &OrderContent) -> bool {
        let customer = &content.customer;
        let phone = customer.phone.as_deref().and_then(phone_key);
        let email = customer.email.as_deref().map(|email| email.trim().to_lowercase());
        let name = customer.name.as_deref().and_then(name_words);
        self.phone
            .as_ref()
            .is_none_or(|wanted| phone.as_ref() == Some(wanted))
            && self
                .email
                .as_ref()
                .is_none_or(|wanted| email.as_ref() == Some(wanted))
            && self
                .name
                .as_ref()
                .is_none_or(|wanted| name.as_ref() == Some(wanted))
    }

    /// A word of the search index that every order of the customer has, if there is one: the phone number, or the longest word of
    /// the name.
    #[must_use]
    pub fn index_word(&self) -> Option<&str> {
        let name = self
            .name
            .as_ref()
            .and_then(|words| words.iter().max_by_key(|word| word.len()));
        self.phone.as_deref().or(name.map(String::as_str))
    }

    /// Does a stored message that belongs to no order contain the phone number or the e-mail address? A name alone is too little.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let by_phone = self
            .phone
            .as_ref()
            .is_some_and(|phone| digits.contains(phone.as_str()));
        let by_email = self
            .email
            .as_ref()
            .is_some_and(|email| text.to_lowercase().contains(email.as_str()));
        by_phone || by_email
    }

    /// One text for all spellings, for a fingerprint.
    #[must_use]
    pub fn canonical(&self) -> String {
        let name = self.name.as_ref().map(|words| words.join(" "));
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        format!("{}\n{}\n{}", part(&self.phone), part(&self.email), part(&name))
    }

    /// Which of phone, e-mail and name are asked for.
    #[must_use]
    pub fn fields(&self) -> Vec<&'static str> {
        let fields = [
            ("phone", self.phone.is_some()),
            ("email", self.email.is_some()),
            ("name", self.name.is_some()),
        ];
        fields
            .into_iter()
            .filter(|(_, is_given)| *is_given)
            .map(|(name, _)| name)
            .collect()
    }
}

/// The words of a name, folded and in order; none if there is no letter.
fn name_words(name: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = name
        .split_whitespace()
        .map(folded)
        .filter(|word| !word.is_empty())
        .collect();
    words.sort();
    (!words.is_empty()).then_some(words)
}

/// Removes everything about the customer. Items, amounts, payment and times stay.
pub fn erase_content(content: &mut OrderContent) {
    content.note = None;
    content.customer = crate::order::Customer::default();
    content.fulfilment.pickup_code = None;
    // They may quote the platform's message.
    content.reading_notes.clear();
    for item in &mut content.items {
        item.note = None;
    }
}

/// Removes what people wrote; who cancelled and the platform's reason are counted, and stay.
pub fn erase_cancellation(cancellation: &mut Cancellation) {
    cancellation.note = None;
    cancellation.reason.take_if(|reason| reason.is_free_text());
}

/// Removes the texts of a note or of options from a version's changes.
pub fn erase_changes(changes: &mut [ContentChange]) {
    for change in changes {
        if matches!(change.field, ChangedField::Note | ChangedField::ItemOptions) {
            (change.from, change.to) = (None, None);
        }
    }
}

/// A reason of the timeline without free text: only the name of the cancel reason is kept.
#[must_use]
pub fn erased_reason(reason: TimelineReason, cancel_reason: Option<&str>) -> Option<TimelineReason> {
    match reason {
        TimelineReason::Text { text } if cancel_reason != Some(text.as_str()) => None,
        other => Some(other),
    }
}

/// Fields of an event, or of an order in it, that hold personal data, at any depth.
const PERSONAL: [&str; 6] = [
    "customer",
    "note",
    "notes",
    "pickupCode",
    "readingNotes",
    "message",
];

/// An event's body without personal data, if it has any. It stays what it was otherwise: the same id, sequence and status. A body
/// that is not JSON becomes an empty object.
#[must_use]
pub fn erase_event(body: &str) -> Option<String> {
    let Ok(stored) = serde_json::from_str::<Value>(body) else {
        return Some("{}".to_owned());
    };
    let mut value = stored.clone();
    erase_value(&mut value);
    (value != stored).then(|| value.to_string())
}

fn erase_value(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(erase_value),
        Value::Object(fields) => {
            let is_text_change = matches!(
                fields.get("field").and_then(Value::as_str),
                Some("note" | "item_options")
            );
            for (name, value) in fields.iter_mut() {
                let is_personal = PERSONAL.contains(&name.as_str())
                    || (is_text_change && matches!(name.as_str(), "from" | "to"));
                let is_free_reason =
                    name == "reason" && value.get("id").is_some_and(|id| Some(id) == value.get("name"));
                match value {
                    value if is_free_reason => *value = Value::Null,
                    // The contract's shape stays: an object keeps its fields, a list is empty.
                    Value::Object(_) if is_personal => clear(value),
                    Value::Array(items) if is_personal => items.clear(),
                    value if is_personal => *value = Value::Null,
                    value => erase_value(value),
                }
            }
        }
        _ => {}
    }
}

/// Sets every value in an object to null.
fn clear(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(clear),
        Value::Array(items) => items.clear(),
        other => *other = Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::a_new_order;
    use serde_json::json;

    fn ordered_by(name: &str, phone: &str, email: &str) -> OrderContent {
        let mut content = a_new_order("1").content;
        content.customer.name = Some(name.to_owned());
        content.customer.phone = Some(phone.to_owned());
        content.customer.email = Some(email.to_owned());
        content
    }

    #[test]
    fn customer_is_found_in_any_spelling() {
        let content = ordered_by("Ayşe  ÇAĞLAR", "+90 (532) 123 45 67", "Ayse@Example.com ");
        for phone in [
            "05321234567",
            "532 123 4567",
            "0090-532-123-45-67",
            "905321234567",
        ] {
            let query = CustomerQuery::new(Some(phone), None, None).unwrap();
            assert!(query.matches(&content), "{phone}");
        }
        for name in ["ayse caglar", "ÇAĞLAR Ayşe", " Ayşe Çağlar "] {
            let query = CustomerQuery::new(None, None, Some(name)).unwrap();
            assert!(query.matches(&content), "{name}");
        }
        let query = CustomerQuery::new(None, Some("AYSE@example.COM"), None).unwrap();
        assert!(query.matches(&content));
        for (phone, email, name) in [
            (Some("5321234568"), None, None),
            (None, Some("ayse@example.org"), None),
            (None, None, Some("ayse")),
            (None, None, Some("ayse caglar demir")),
            (Some("5321234567"), None, Some("mehmet caglar")),
        ] {
            let query = CustomerQuery::new(phone, email, name).unwrap();
            assert!(!query.matches(&content), "{query:?}");
        }
    }

    #[test]
    fn query_that_names_nobody_is_refused() {
        assert_eq!(
            CustomerQuery::new(None, Some(" "), Some("")),
            Err(WrongQuery::Empty)
        );
        assert_eq!(
            CustomerQuery::new(Some("12-34"), None, None),
            Err(WrongQuery::NotPhone)
        );
        assert_eq!(
            CustomerQuery::new(None, Some("x"), None),
            Err(WrongQuery::NotEmail)
        );
        assert_eq!(
            CustomerQuery::new(None, None, Some("…")),
            Err(WrongQuery::NotName)
        );
    }

    #[test]
    fn erased_content_keeps_what_is_counted() {
        let mut content = ordered_by("Ayşe", "5321234567", "a@example.com");
        content.note = Some("zile basmayın".to_owned());
        content.fulfilment.pickup_code = Some("7788".to_owned());
        let before = content.clone();
        erase_content(&mut content);
        let text = serde_json::to_string(&content).unwrap();
        for gone in ["Ayşe", "5321234567", "example.com", "basmay", "7788"] {
            assert!(!text.contains(gone), "{gone} in {text}");
        }
        assert_eq!(
            (&content.amount, &content.payment),
            (&before.amount, &before.payment)
        );
        assert_eq!(content.items.len(), before.items.len());
    }

    #[test]
    fn event_keeps_its_shape_without_personal_data() {
        let body = json!({
            "olay": "siparis.guncellendi",
            "veri": {
                "id": "x", "sequence": 3, "note": "Ayşe ara", "status": 400,
                "changes": [
                    {"field": "note", "from": "Ayşe", "to": null},
                    {"field": "total", "from": 1, "to": 2},
                ],
                "order": {"customer": {"name": "Ayşe", "address": {"text": "Moda", "lat": 1.5}}, "items": [{"name": "Simit", "note": "Ayşe"}]},
            },
        });
        let erased: Value = serde_json::from_str(&erase_event(&body.to_string()).unwrap()).unwrap();
        assert_eq!(
            erased,
            json!({
                "olay": "siparis.guncellendi",
                "veri": {
                    "id": "x", "sequence": 3, "note": null, "status": 400,
                    "changes": [
                        {"field": "note", "from": null, "to": null},
                        {"field": "total", "from": 1, "to": 2},
                    ],
                    "order": {"customer": {"name": null, "address": {"text": null, "lat": null}}, "items": [{"name": "Simit", "note": null}]},
                },
            })
        );
        assert_eq!(erase_event(&erased.to_string()), None);
        assert_eq!(erase_event("not json").as_deref(), Some("{}"));
    }

    #[test]
    fn free_text_is_removed_from_the_timeline() {
        let text = |text: &str| TimelineReason::text(text);
        assert_eq!(
            erased_reason(text("Kapalı"), Some("Kapalı")),
            Some(text("Kapalı"))
        );
        assert_eq!(erased_reason(text("Ayşe aradı"), Some("Kapalı")), None);
        assert_eq!(
            erased_reason(TimelineReason::Arrived, None),
            Some(TimelineReason::Arrived)
        );
    }
}
