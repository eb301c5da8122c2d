//! The state of a store on the simulated platform besides its orders: open or closed, hours, and items.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::{
    clock,
    views::{ClosedBy, HoursLine, ItemRequest, ItemView, ShopRequest, ShopView},
};

/// The state of one store. By default it is open all day, with all items available.
#[derive(Clone, Debug)]
pub(crate) struct Shop {
    closing: Option<Closing>,
    /// Deactivated permanently (Migros, Delivery Hero's `INACTIVE`).
    pub is_deactivated: bool,
    pub is_in_hours: bool,
    /// The platform accepts changes (Delivery Hero).
    pub is_changeable: bool,
    pub needs_check_in: bool,
    pub busy_minutes: Option<u64>,
    pub hours: Vec<HoursLine>,
    pub items: BTreeMap<String, Item>,
    /// How many reads of the state are answered with 204 (Delivery Hero).
    pub not_ready_answers: u32,
    /// The state was read, which is required before a change (Delivery Hero).
    pub was_read: bool,
    /// Fault: timed closings and timed items never end.
    pub forgets_timers: bool,
    /// Fault: the state that reads show instead of the real one.
    reads_as: Option<bool>,
    /// Fault: changes are acknowledged but not applied.
    pub ignores_changes: bool,
    /// The result reported for catalogs; none: no report is sent.
    pub catalog_result: Option<String>,
    /// The last catalog that was sent.
    pub last_catalog: Option<Catalog>,
    /// Yemeksepeti's log of imports, oldest first.
    pub catalog_log: Vec<serde_json::Value>,
}

/// A received catalog whose import must be reported.
#[derive(Clone, Debug)]
pub(crate) struct Catalog {
    pub import_id: String,
    /// Where its result is reported.
    pub callback_url: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Closing {
    pub until: Option<Timestamp>,
    pub is_for_today: bool,
    pub by: ClosedBy,
    pub reason: Option<String>,
}

/// A product or option whose state differs from the menu's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    pub is_off: bool,
    pub is_off_for_today: bool,
    pub off_until: Option<Timestamp>,
    pub price: Option<i64>,
    pub name: Option<String>,
    pub image_url: Option<String>,
    pub is_removed: bool,
}

impl Default for Shop {
    fn default() -> Self {
        Self {
            closing: None,
            is_deactivated: false,
            is_in_hours: true,
            is_changeable: true,
            needs_check_in: false,
            busy_minutes: None,
            hours: (0..7).map(HoursLine::daily).collect(),
            items: BTreeMap::new(),
            not_ready_answers: 0,
            was_read: false,
            forgets_timers: false,
            reads_as: None,
            ignores_changes: false,
            catalog_result: Some("done".to_owned()),
            last_catalog: None,
            catalog_log: Vec::new(),
        }
    }
}

impl Shop {
    /// The current closing; a timed one expires.
    pub(crate) fn closing(&self, now: Timestamp) -> Option<&Closing> {
        self.closing.as_ref().filter(|closing| {
            let is_over = closing.until.is_some_and(|until| until <= now);
            !is_over || self.forgets_timers
        })
    }

    /// Whether customers can order.
    pub(crate) fn is_open(&self, now: Timestamp) -> bool {
        self.closing(now).is_none() && !self.is_deactivated && self.is_in_hours && !self.needs_check_in
    }

    /// The state that the API shows, which a fault may falsify.
    pub(crate) fn shown_open(&self, now: Timestamp) -> bool {
        self.reads_as.unwrap_or_else(|| self.is_open(now))
    }

    pub(crate) fn close(&mut self, closing: Closing) {
        if !self.ignores_changes {
            self.closing = Some(closing);
        }
    }

    pub(crate) fn open(&mut self) {
        if !self.ignores_changes {
            self.closing = None;
        }
    }

    pub(crate) fn item(&self, id: &str) -> Option<&Item> {
        self.items.get(id)
    }

    pub(crate) fn is_off(&self, id: &str, now: Timestamp) -> bool {
        self.item(id).is_some_and(|item| {
            let is_over = item.off_until.is_some_and(|until| until <= now);
            item.is_off && (!is_over || self.forgets_timers)
        })
    }

    pub(crate) fn is_off_for_today(&self, id: &str, now: Timestamp) -> bool {
        self.is_off(id, now) && self.item(id).is_some_and(|item| item.is_off_for_today)
    }

    /// Switches an item on, or off until a time.
    pub(crate) fn switch(&mut self, id: &str, is_off: bool, until: Option<Timestamp>, is_for_today: bool) {
        if self.ignores_changes {
            return;
        }
        let item = self.items.entry(id.to_owned()).or_default();
        item.is_off = is_off;
        item.off_until = until.filter(|_| is_off);
        item.is_off_for_today = is_for_today && is_off;
    }

    pub(crate) fn set_price(&mut self, id: &str, price: i64) {
        if !self.ignores_changes {
            self.items.entry(id.to_owned()).or_default().price = Some(price);
        }
    }

    pub(crate) fn price(&self, id: &str, usual: i64) -> i64 {
        self.item(id).and_then(|item| item.price).unwrap_or(usual)
    }

    pub(crate) fn name<'a>(&'a self, id: &str, usual: &'a str) -> &'a str {
        let name = self.item(id).and_then(|item| item.name.as_deref());
        name.unwrap_or(usual)
    }

    pub(crate) fn image_url(&self, id: &str) -> &str {
        let url = self.item(id).and_then(|item| item.image_url.as_deref());
        url.unwrap_or_default()
    }

    pub(crate) fn is_removed(&self, id: &str) -> bool {
        self.item(id).is_some_and(|item| item.is_removed)
    }

    /// Applies a request of the control API.
    pub(crate) fn change(&mut self, request: &ShopRequest, now: Timestamp) {
        // Requests of the control API are applied even if the platform ignores changes.
        let ignores = std::mem::take(&mut self.ignores_changes);
        match request.open {
            Some(true) => {
                self.open();
                self.is_deactivated = false;
            }
            Some(false) => self.close(Closing {
                until: request
                    .for_seconds
                    .map(|seconds| clock::add_seconds(now, u64::from(seconds))),
                is_for_today: false,
                by: request.by.unwrap_or(ClosedBy::Platform),
                reason: request.reason.clone(),
            }),
            None => {}
        }
        let set = |field: &mut bool, value: Option<bool>| *field = value.unwrap_or(*field);
        self.ignores_changes = ignores;
        set(&mut self.is_deactivated, request.deactivated);
        set(&mut self.is_in_hours, request.in_hours);
        set(&mut self.is_changeable, request.changeable);
        set(&mut self.needs_check_in, request.check_in_required);
        set(&mut self.forgets_timers, request.forgets_timers);
        set(&mut self.ignores_changes, request.ignores_changes);
        if let Some(times) = request.not_ready_answers {
            self.not_ready_answers = times;
        }
        if let Some(result) = &request.catalog_result {
            self.catalog_result = Some(result.clone()).filter(|result| !result.is_empty());
        }
        if let Some(reads_as) = &request.reads_as {
            self.reads_as = match reads_as.as_str() {
                "open" => Some(true),
                "closed" => Some(false),
                _ => None,
            };
        }
    }

    /// Applies a change made in the platform's own panel.
    pub(crate) fn change_item(&mut self, id: &str, request: &ItemRequest) {
        let item = self.items.entry(id.to_owned()).or_default();
        if let Some(available) = request.available {
            item.is_off = !available;
            item.off_until = None;
            item.is_off_for_today = false;
        }
        item.price = request.price.or(item.price);
        item.name = request.name.clone().or_else(|| item.name.take());
        item.image_url = request.image_url.clone().or_else(|| item.image_url.take());
        item.is_removed = request.removed.unwrap_or(item.is_removed);
    }

    pub(crate) fn view(&self, now: Timestamp) -> ShopView {
        let closing = self.closing(now);
        ShopView {
            open: self.is_open(now),
            closed_by: closing.map(|closing| closing.by),
            closed_until: closing.and_then(|closing| closing.until).map(clock::text),
            reason: closing.and_then(|closing| closing.reason.clone()),
            deactivated: self.is_deactivated,
            busy_minutes: self.busy_minutes,
            hours: self.hours.clone(),
            items: self
                .items
                .iter()
                .map(|(id, item)| ItemView {
                    id: id.clone(),
                    available: !self.is_off(id, now),
                    off_until: item.off_until.map(clock::text),
                    off_for_today: self.is_off_for_today(id, now),
                    price: item.price,
                })
                .collect(),
        }
    }
}

/// The next opening by the default hours: 10:00 in Istanbul.
pub(crate) fn next_opening(now: Timestamp) -> Timestamp {
    const DAY: i64 = 86_400;
    const SEVEN: i64 = 7 * 3_600;
    let today = now.as_second().div_euclid(DAY) * DAY + SEVEN;
    let next = if today > now.as_second() {
        today
    } else {
        today + DAY
    };
    Timestamp::from_second(next).unwrap_or(now)
}

/// The end of the day in Istanbul.
pub(crate) fn end_of_day(now: Timestamp) -> Timestamp {
    const DAY: i64 = 86_400;
    let local = clock::add(now, SignedDuration::from_hours(3));
    let midnight = (local.as_second().div_euclid(DAY) + 1) * DAY;
    let midnight = Timestamp::from_second(midnight).unwrap_or(now);
    clock::add(midnight, SignedDuration::from_hours(-3))
}

/// A batch of prices that Trendyol processes later.
#[derive(Clone, Debug)]
pub(crate) struct PriceBatch {
    pub supplier: String,
    pub due_at: Timestamp,
    pub is_applied: bool,
    pub items: Vec<BatchItem>,
}

#[derive(Clone, Debug)]
pub(crate) struct BatchItem {
    pub product: String,
    pub price: i64,
    /// None: the price changes in every store of the seller.
    pub store: Option<String>,
    pub failure: Option<String>,
}

/// Bodies of received batches, to refuse duplicates.
pub(crate) type SeenBodies = BTreeSet<(String, String)>;
