//! A received event: what identifies it, and the line that shows it.

use garson_core::order::Status;
use serde_json::Value;

/// Longer texts of senders are cut.
const MAX_SHOWN: usize = 80;

/// What is unusual about an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Its id was received before.
    pub is_repeat: bool,
    /// The last sequence of its order, which it does not follow.
    pub comes_after: Option<i64>,
}

/// What identifies an event and its position.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    pub olay: &'a str,
    /// `veri.id`
    pub id: &'a str,
    /// `veri.orderId`
    pub order: Option<&'a str>,
    pub sequence: Option<i64>,
}

impl<'a> Event<'a> {
    /// Finds it in a document; names what is missing.
    pub fn find(document: &'a Value) -> Result<Self, &'static str> {
        let veri = &document["veri"];
        Ok(Self {
            olay: document["olay"].as_str().ok_or("it has no olay")?,
            id: veri["id"].as_str().ok_or("it has no veri.id")?,
            order: veri["orderId"].as_str(),
            sequence: veri["sequence"].as_i64(),
        })
    }

    /// One line: event, order, sequence, change, id, and what is unusual.
    pub fn line(&self, document: &Value, remarks: Remarks) -> String {
        let veri = &document["veri"];
        let mut parts = vec![format!("{:<21}", plain(self.olay))];
        parts.extend(veri["providerOrderId"].as_str().map(plain));
        parts.extend(self.sequence.map(|sequence| format!("#{sequence}")));
        parts.extend(change(veri));
        parts.push(plain(self.id));
        if remarks.is_repeat {
            parts.push("again".to_owned());
        }
        if let Some(reached) = remarks.comes_after {
            parts.push(format!("out of order (after #{reached})"));
        }
        parts.join("  ")
    }
}

/// The new status of the order, or what was switched.
fn change(veri: &Value) -> Option<String> {
    let named = |code: i64| match Status::from_code(code) {
        Some(status) => status.to_string(),
        None => code.to_string(),
    };
    let code = |name: &str| veri[name].as_i64();
    match (code("oldStatus"), code("newStatus"), code("status")) {
        (Some(old), Some(new), _) => Some(format!("{old} → {}", named(new))),
        (_, Some(status), _) | (_, _, Some(status)) => Some(named(status)),
        _ => {
            let switched = if veri["isActive"].as_bool()? { "on" } else { "off" };
            let provider = veri["provider"].as_str().map(plain).unwrap_or_default();
            Some(format!("{provider} {switched}"))
        }
    }
}

/// Text of a sender without control characters, so that it stays on its line and cannot control the terminal.
pub fn plain(text: &str) -> String {
    let shown = text.chars().take(MAX_SHOWN);
    let mut shown: String = shown.map(|c| if c.is_control() { '�' } else { c }).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(document: &Value) -> String {
        Event::find(document).unwrap().line(document, Remarks::default())
    }

    #[test]
    fn every_kind_fits_a_line() {
        let moved = json!({ "olay": "siparis.durum_degisti", "veri": { "id": "e1", "providerOrderId": "WEB-5",
            "orderId": "o", "sequence": 2, "oldStatus": 400, "newStatus": 500 } });
        assert_eq!(
            shown(&moved),
            "siparis.durum_degisti  WEB-5  #2  400 → 500 (preparing)  e1"
        );
        let switched = json!({ "olay": "entegrasyon.durum_degisti", "veri": { "id": "e2", "provider": "getir",
            "isActive": false } });
        assert_eq!(shown(&switched), "entegrasyon.durum_degisti  getir off  e2");
        let unknown = json!({ "olay": "siparis.yeni", "veri": { "id": "e3", "status": 7 } });
        assert_eq!(shown(&unknown), "siparis.yeni           7  e3");
    }

    #[test]
    fn what_is_no_event_is_named() {
        for (document, missing) in [
            (json!([]), "it has no olay"),
            (json!({ "olay": 5, "veri": { "id": "x" } }), "it has no olay"),
            (json!({ "olay": "x", "veri": [] }), "it has no veri.id"),
        ] {
            assert_eq!(Event::find(&document).unwrap_err(), missing);
        }
    }

    #[test]
    fn a_senders_text_cannot_steer_the_terminal() {
        assert_eq!(plain("a\u{1b}[2J\nb"), "a�[2J�b");
        assert_eq!(plain(&"ş".repeat(500)).chars().count(), MAX_SHOWN + 1);
    }
}
