//! What a ticket is made from, and the parts that several tickets have.

use crate::model::{Blocks, Paragraph, Size};
use crate::options::{Copy, Lang};
use crate::words::Words;
use garson_core::order::{Courier, FulfilmentType, Order, OrderContent};
use garson_core::time::{Timestamp, Zone};

/// What a ticket is made from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub order: &'a Order,
    pub content: &'a OrderContent,
    pub restaurant: &'a str,
    pub restaurant_address: Option<&'a str>,
    /// The name of the platform.
    pub platform: &'a str,
    /// The restaurant's time zone.
    pub zone: &'a Zone,
    pub now: Timestamp,
}

/// Makes the parts that several tickets have.
pub(super) struct Maker<'a> {
    pub source: Source<'a>,
    pub lang: Lang,
    pub t: Words,
}

impl Maker<'_> {
    /// The order's code, as people call it out.
    pub fn code(&self) -> &str {
        let order = self.source.order;
        let short = order.short_code.as_deref().filter(|code| !code.trim().is_empty());
        short.unwrap_or(&order.provider_order_id)
    }

    /// `14:05`, with the day if it is not today's.
    pub fn time(&self, at: Timestamp) -> String {
        let zone = self.source.zone;
        if zone.write(at, "%Y%m%d") == zone.write(self.source.now, "%Y%m%d") {
            return zone.write(at, "%H:%M");
        }
        let form = match self.lang {
            Lang::Tr => "%d.%m. %H:%M",
            Lang::En => "%d %b %H:%M",
        };
        zone.write(at, form)
    }

    pub fn date_and_time(&self, at: Timestamp) -> String {
        let form = match self.lang {
            Lang::Tr => "%d.%m.%Y %H:%M",
            Lang::En => "%d %b %Y, %H:%M",
        };
        self.source.zone.write(at, form)
    }

    /// What must be seen before anything else.
    pub fn add_banners(&self, blocks: &mut Blocks, copy: Option<Copy>) {
        match copy {
            Some(Copy::Requested) => blocks.add(Paragraph::warning(self.t.copy).centred()),
            Some(Copy::Uncertain) => blocks.add(Paragraph::warning(self.t.maybe_copy).centred()),
            None => {}
        }
        if self.source.order.status.is_cancelled() {
            blocks.add(Paragraph::warning(self.t.cancelled).sized(Size::Large).centred());
        }
    }

    /// Platform and code, the largest line of the ticket.
    pub fn add_code(&self, blocks: &mut Blocks) {
        let arrived = self.time(self.source.order.created_at);
        blocks.add_pair(self.source.platform, &arrived, Size::Normal, 0);
        blocks.add(Paragraph::strong(self.code()).sized(Size::Large).centred());
        let revision = self.source.order.revision;
        if revision > 1 {
            let text = format!("{} {revision}", self.t.revision);
            blocks.add(Paragraph::warning(&text).centred());
        }
    }

    /// When and by whom it leaves the restaurant.
    pub fn add_delivery(&self, blocks: &mut Blocks) {
        let (order, fulfilment) = (self.source.order, &self.source.content.fulfilment);
        if let Some(at) = order.scheduled_for {
            let text = format!("{} {}", self.t.scheduled, self.time(at));
            blocks.add(Paragraph::warning(&text).sized(Size::Tall));
        }
        let promised = fulfilment
            .promised_at
            .filter(|at| Some(*at) != order.scheduled_for);
        if let Some(at) = promised {
            let fact = Paragraph::fact(self.t.promised, &self.time(at));
            blocks.add(fact.sized(Size::Tall));
        }
        blocks.add(Paragraph::strong(match (fulfilment.kind, fulfilment.courier) {
            (FulfilmentType::Pickup, _) | (_, Courier::None) => self.t.pickup,
            (_, Courier::Platform) => self.t.courier_platform,
            (_, Courier::Restaurant) => self.t.courier_restaurant,
        }));
        let comes = fulfilment.courier_pickup_at.map(|at| self.time(at));
        blocks.add_fact(self.t.courier_comes, comes.as_deref());
        blocks.add_fact(self.t.pickup_code, fulfilment.pickup_code.as_deref());
    }

    pub fn add_order_note(&self, blocks: &mut Blocks) {
        if let Some(note) = self.source.content.note.as_deref() {
            let note = note.trim();
            if !note.is_empty() {
                blocks.add_rule();
                blocks.add(Paragraph::note(self.t.order_note, note).sized(Size::Tall));
            }
        }
    }

    pub fn add_times(&self, blocks: &mut Blocks) {
        let order = self.source.order;
        let text = format!(
            "{} {} · {} {}",
            self.t.received,
            self.time(order.created_at),
            self.t.printed,
            self.time(self.source.now)
        );
        blocks.add(Paragraph::new(&text).centred());
    }
}
