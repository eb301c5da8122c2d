//! Which events make the agent print.

use super::api::Event;
use super::args::When;
use garson_core::event;
use garson_core::id::{OrderId, RestaurantId};
use garson_core::order::Status;
use garson_core::time::Timestamp;
use std::time::Duration;

/// What the agent prints.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    pub on: When,
    pub restaurant: Option<RestaurantId>,
    pub max_age: Duration,
}

/// What the agent does with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Print(OrderId),
    /// It would have been printed, but this long has passed since.
    TooOld(OrderId, Duration),
    Ignored,
}

impl Selection {
    pub fn judge(&self, event: &Event, now: Timestamp) -> Verdict {
        let Some(order) = self.order(event) else {
            return Verdict::Ignored;
        };
        let age = now.since(event.occurred_at);
        if age > self.max_age {
            Verdict::TooOld(order, age)
        } else {
            Verdict::Print(order)
        }
    }

    /// The order that an event makes the agent print, however old it is.
    fn order(&self, event: &Event) -> Option<OrderId> {
        if self.restaurant.is_some() && event.restaurant_id != self.restaurant {
            return None;
        }
        // A status that the order has reached, and the one that it had before.
        let (before, after) = match event.name.as_str() {
            event::CREATED => (0, event.status?),
            event::MOVED => (event.old_status?, event.new_status?),
            _ => return None,
        };
        // An order that its platform holds back is printed when it is due, and one that is over not at all.
        let first = match self.on {
            When::New => Status::New,
            When::Verified => Status::Preparing,
        };
        let is_reached = before < first.code() && (first.code()..Status::Delivered.code()).contains(&after);
        event.order_id.filter(|_| is_reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn event(name: &str, before: Option<i64>, after: i64) -> Event {
        Event {
            id: "1".to_owned(),
            order_id: Some(OrderId(Uuid::nil())),
            restaurant_id: Some(RestaurantId(Uuid::nil())),
            occurred_at: Timestamp::default(),
            status: before.is_none().then_some(after),
            old_status: before,
            new_status: before.map(|_| after),
            name: name.to_owned(),
        }
    }

    fn prints(on: When, event: &Event) -> bool {
        let selection = Selection {
            on,
            restaurant: None,
            max_age: Duration::from_secs(60),
        };
        selection.judge(event, Timestamp::default()) != Verdict::Ignored
    }

    #[test]
    fn an_order_is_printed_at_one_step_only() {
        let created = |status| event(event::CREATED, None, status);
        let moved = |from, to| event(event::MOVED, Some(from), to);
        let life = [created(400), moved(400, 500), moved(500, 600), moved(600, 900)];
        let scheduled = [created(325), moved(325, 350), moved(350, 400), moved(400, 500)];
        let accepted_at_once = [created(500), moved(500, 600)];
        let skipping = [created(400), moved(400, 600)];
        for (events, new, verified) in [
            (life.as_slice(), 0, 1),
            (&scheduled, 2, 3),
            (&accepted_at_once, 0, 0),
            (&skipping, 0, 1),
        ] {
            for (on, step) in [(When::New, new), (When::Verified, verified)] {
                let printed: Vec<usize> = (0..events.len()).filter(|at| prints(on, &events[*at])).collect();
                assert_eq!(printed, [step], "{on:?} {events:?}");
            }
        }
        assert!(!prints(When::New, &event(event::CANCELLED, None, 1600)));
        assert!(!prints(When::Verified, &moved(400, 900)));
    }

    #[test]
    fn old_events_are_told_from_those_of_other_restaurants() {
        let created = event(event::CREATED, None, 400);
        let order = OrderId(Uuid::nil());
        let selection = Selection {
            on: When::New,
            restaurant: Some(RestaurantId(Uuid::max())),
            max_age: Duration::from_secs(60),
        };
        let at = Timestamp::from_millis;
        assert_eq!(selection.judge(&created, at(0)), Verdict::Ignored);
        assert_eq!(selection.judge(&created, at(60_001)), Verdict::Ignored);
        let selection = Selection {
            restaurant: None,
            ..selection
        };
        assert_eq!(selection.judge(&created, at(60_000)), Verdict::Print(order));
        let age = Duration::from_millis(60_001);
        assert_eq!(selection.judge(&created, at(60_001)), Verdict::TooOld(order, age));
        let moved = event(event::MOVED, Some(400), 500);
        assert_eq!(selection.judge(&moved, at(60_001)), Verdict::Ignored);
    }
}
