//! What was sent to the POS and what it answered, as the report shows it.

use super::super::check_receiver::endpoint::Reply;
use garson_core::time::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

/// The fields of an event that scenarios look at.
#[derive(Clone, Debug, Default)]
pub struct EventHead {
    /// `veri.id`
    pub id: String,
    pub olay: String,
    /// `veri.orderId`
    pub order: String,
    /// `veri.providerOrderId`
    pub number: String,
    pub sequence: i64,
}

impl EventHead {
    pub fn read(body: &[u8]) -> Self {
        // The service's own events always parse.
        let document: Value = serde_json::from_slice(body).unwrap_or_default();
        let veri = &document["veri"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            id: text(&veri["id"]),
            olay: text(&document["olay"]),
            order: text(&veri["orderId"]),
            number: text(&veri["providerOrderId"]),
            sequence: veri["sequence"].as_i64().unwrap_or_default(),
        }
    }
}

/// One request to the POS, or one that was withheld to simulate an outage.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub head: EventHead,
    pub body: Arc<str>,
    pub at: Timestamp,
    /// What is special about the request; empty for a plain one.
    pub note: &'static str,
    /// `None`: it was withheld.
    pub reply: Option<Reply>,
    /// The POS answered before the whole body was sent.
    pub is_early: bool,
}

impl Delivery {
    /// Is this an answer that the service counts as success?
    pub fn is_success(&self) -> bool {
        self.reply.as_ref().is_some_and(Reply::is_success) && !self.is_early
    }

    /// Did the POS refuse it, or not answer?
    pub fn is_failure(&self) -> bool {
        self.reply.is_some() && !self.is_success()
    }

    pub fn describe(&self) -> String {
        let event = match self.head.sequence {
            0 => self.head.olay.clone(),
            sequence => format!("{} #{sequence} of {}", self.head.olay, self.head.number),
        };
        let note = match self.note {
            "" => String::new(),
            note => format!(" ({note})"),
        };
        let answer = match &self.reply {
            None => "withheld".to_owned(),
            Some(reply) if self.is_early => format!("{reply}, before all of it was sent"),
            Some(reply) => reply.to_string(),
        };
        format!("{event}{note}: {answer}")
    }

    pub fn json(&self) -> Value {
        let error = self.reply.as_ref().and_then(|reply| reply.result.as_ref().err());
        json!({
            "at": self.at,
            "eventId": self.head.id,
            "olay": self.head.olay,
            "orderId": self.head.order,
            "providerOrderId": self.head.number,
            "sequence": self.head.sequence,
            "note": self.note,
            "sent": self.reply.is_some(),
            "status": self.reply.as_ref().and_then(Reply::status),
            "error": error.map(ToString::to_string),
            "milliseconds": self.reply.as_ref().map(|reply| u64::try_from(reply.took.as_millis()).unwrap_or(u64::MAX)),
            "answeredEarly": self.is_early,
        })
    }
}
