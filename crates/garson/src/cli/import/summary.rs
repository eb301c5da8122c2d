//! What was read and written, and what a person has to do now.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// What the other service showed.
    pub read: u64,
    pub imported: u64,
    /// They were here in an earlier state.
    pub updated: u64,
    /// They were here already.
    pub known: u64,
    pub skipped: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub dry_run: bool,
    pub businesses: Tally,
    pub restaurants: Tally,
    pub integrations: Tally,
    pub orders: Tally,
    /// What a person should know, and how often it was so.
    pub notes: BTreeMap<String, u64>,
}

impl Summary {
    pub fn new(dry_run: bool) -> Self {
        Self {
            dry_run,
            businesses: Tally::default(),
            restaurants: Tally::default(),
            integrations: Tally::default(),
            orders: Tally::default(),
            notes: BTreeMap::new(),
        }
    }

    pub fn note(&mut self, note: impl Into<String>) {
        self.notes_of(note, 1);
    }

    pub fn notes_of(&mut self, note: impl Into<String>, count: u64) {
        if count > 0 {
            *self.notes.entry(note.into()).or_default() += count;
        }
    }

    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let verb = if self.dry_run { "to import" } else { "imported" };
        let update = if self.dry_run { "to update" } else { "updated" };
        for (name, tally) in [
            ("Businesses", self.businesses),
            ("Restaurants", self.restaurants),
            ("Integrations", self.integrations),
            ("Orders", self.orders),
        ] {
            let Tally {
                read,
                imported,
                updated,
                known,
                skipped,
            } = tally;
            // Writing to a text cannot fail.
            let _ = write!(
                text,
                "{name:<13} {read} read, {imported} {verb}, {known} here already"
            );
            if updated > 0 {
                let _ = write!(text, ", {updated} {update}");
            }
            if skipped > 0 {
                let _ = write!(text, ", {skipped} left out");
            }
            text.push('\n');
        }
        for (note, count) in &self.notes {
            let times = if *count > 1 {
                format!(" ({count} times)")
            } else {
                String::new()
            };
            let _ = writeln!(text, "Note: {note}{times}");
        }
        if self.dry_run {
            text.push_str("Nothing was written.\n");
        }
        text
    }
}
