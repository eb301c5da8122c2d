//! The checks of derived values.

use super::{Call, Event, Findings, Id, Line, Order, Tables};
use garson_core::delivery::FAILURES_THAT_HOLD;
use garson_core::event::UPDATED;
use garson_core::order::{CallKind, Status};
use garson_core::search::Subject;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Spans of payment totals: five minutes, 64 of those, 64 of those again.
const UNIT: i64 = 5 * 60 * 1000;
const LEVELS: [i64; 3] = [0, 1, 2];
const GROUP_BITS: i64 = 6;

/// Places are given out once, up to the account's counter, and moments follow them; the same holds for places of changes.
pub fn places(tables: &Tables, findings: &mut Findings) {
    for account in &tables.accounts {
        let orders = tables.orders.iter().filter(|order| order.account == account.id);
        let events = tables.events.iter().filter(|event| event.account == account.id);
        let mut changes: Vec<(i64, i64)> = orders
            .clone()
            .map(|order| (order.changed, order.updated_at))
            .collect();
        changes.sort_unstable();
        for pair in changes.windows(2) {
            findings.expect(pair[0].0 < pair[1].0, "two changes have one place", &account.id);
            findings.expect(
                pair[0].1 <= pair[1].1,
                "moments of changes do not follow their places",
                &account.id,
            );
        }
        findings.expect(
            changes.last().is_none_or(|last| last.0 <= account.position),
            "a change beyond the counter",
            &account.id,
        );
        let mut places: Vec<(i64, i64)> = orders.map(|order| (order.position, order.created_at)).collect();
        places.extend(events.map(|event| (event.position, event.created_at)));
        places.sort_unstable();
        for pair in places.windows(2) {
            findings.expect(pair[0].0 < pair[1].0, "a place is given out twice", &account.id);
            findings.expect(
                pair[0].1 <= pair[1].1,
                "moments do not follow places",
                &account.id,
            );
        }
        if let (Some(first), Some(last)) = (places.first(), places.last()) {
            findings.expect(first.0 >= 1, "a place before the first", &account.id);
            findings.expect(
                last.0 <= account.position,
                "a place beyond the counter",
                &account.id,
            );
            findings.expect(
                last.1 <= account.newest_at,
                "a moment beyond the newest",
                &account.id,
            );
        }
    }
}

/// An order has as many events as it has taken steps that are told, a line of its timeline for each of those, for each version of
/// its content and for flags, and stands where the last one led.
pub fn history(tables: &Tables, findings: &mut Findings) {
    let mut events: BTreeMap<&Id, Vec<(i64, i64)>> = BTreeMap::new();
    let mut told_versions: BTreeMap<&Id, i64> = BTreeMap::new();
    for event in &tables.events {
        if let (Some(order), Some(sequence)) = (&event.order, event.sequence) {
            events.entry(order).or_default().push((sequence, event.position));
            *told_versions.entry(order).or_default() += i64::from(event.name == UPDATED);
        }
    }
    let mut timelines: BTreeMap<&Id, Vec<&Line>> = BTreeMap::new();
    for line in &tables.timeline {
        timelines.entry(&line.order).or_default().push(line);
    }
    for order in tables.live_orders() {
        let mut told = events.remove(&order.id).unwrap_or_default();
        let first = if tables.has_imported {
            order.sequence - i64::try_from(told.len()).unwrap() + 1
        } else {
            1
        };
        let steps: Vec<i64> = (first..=order.sequence).collect();
        told.sort_unstable();
        let sequences: Vec<i64> = told.iter().map(|(sequence, _)| *sequence).collect();
        findings.equal(&sequences, &steps, "the sequence of an order's events", &order.id);
        findings.expect(
            told.is_sorted_by_key(|(_, position)| *position),
            "an order's events are in another order than their places",
            &order.id,
        );
        let lines = timelines.remove(&order.id).unwrap_or_default();
        let numbers: Vec<i64> = lines.iter().map(|line| line.number).collect();
        let untold = order.revision - 1 - told_versions.remove(&order.id).unwrap_or(0);
        let flags = lines.iter().filter(|line| line.is_flag()).count();
        let flags = i64::try_from(flags).unwrap();
        let all: Vec<i64> = (1..=order.sequence + untold + flags).collect();
        findings.equal(&numbers, &all, "the numbers of an order's timeline", &order.id);
        let versions: Vec<i64> = lines.iter().filter_map(|line| line.revision).collect();
        let expected: Vec<i64> = (2..=order.revision).collect();
        findings.equal(
            &versions,
            &expected,
            "the versions in an order's timeline",
            &order.id,
        );
        findings.equal(
            &lines.last().map(|line| line.to),
            &Some(order.status),
            "the end of an order's timeline",
            &order.id,
        );
        for pair in lines.windows(2) {
            findings.equal(&pair[1].from, &Some(pair[0].to), "a step's beginning", &order.id);
        }
    }
}

/// What lists and sums take from an order is what its content says.
pub fn contents(tables: &Tables, findings: &mut Findings) {
    for order in tables.live_orders() {
        let content = tables.contents.get(&order.id).map(String::as_str);
        let content: Value = content.map_or(Value::Null, |body| serde_json::from_str(body).unwrap());
        let tail = order.line.split_once('\n').map_or("", |(_, tail)| tail);
        let tail: Value = serde_json::from_str(tail).unwrap();
        let (amount, payment) = (&content["amount"], &content["payment"]);
        let computed = json!([amount["total"], amount["currency"], payment["type"]]);
        let row = json!([order.total, order.currency, order.payment_type]);
        findings.equal(&row, &computed, "what an order costs", &order.id);
        let listed = json!([tail["total"], tail["currency"], tail["paymentType"]]);
        findings.equal(
            &listed,
            &computed,
            "what lists say that an order costs",
            &order.id,
        );
    }
}

/// An event is held exactly while the one before it in its order is pending and has failed less than twice; it has counted
/// the attempts that are there.
pub fn deliveries(tables: &Tables, findings: &mut Findings) {
    let mut attempts: BTreeMap<&Id, Vec<i64>> = BTreeMap::new();
    for (event, number) in &tables.attempts {
        attempts.entry(event).or_default().push(*number);
    }
    let by_order: BTreeMap<(&Id, i64), &Event> = tables
        .events
        .iter()
        .filter_map(|event| Some(((event.order.as_ref()?, event.sequence?), event)))
        .collect();
    let live = tables
        .events
        .iter()
        .filter(|event| !tables.is_being_deleted(&event.restaurant));
    for event in live {
        let made = attempts.remove(&event.id).unwrap_or_default();
        let counted: Vec<i64> = (1..=event.attempts).collect();
        findings.equal(&made, &counted, "the numbers of an event's attempts", &event.id);
        findings.expect(
            event.failures <= event.attempts,
            "more failures than attempts",
            &event.id,
        );
        let is_pending = event.state == "pending";
        findings.expect(
            event.state != "delivered" || event.attempts > event.failures,
            "delivered without an attempt that succeeded",
            &event.id,
        );
        findings.expect(
            !is_pending || event.due_at.is_some(),
            "pending and never due",
            &event.id,
        );
        let before = event.order.as_ref().zip(event.sequence);
        let before = before.and_then(|(order, sequence)| by_order.get(&(order, sequence - 1)));
        let must_wait = before.is_some_and(|it| it.state == "pending" && it.failures < FAILURES_THAT_HOLD);
        if is_pending {
            findings.equal(
                &(event.held == 1),
                &must_wait,
                "whether an event is held",
                &event.id,
            );
        }
    }
}

/// Count and sum by payment type and currency.
type Sums = BTreeMap<(String, String), (i64, i64)>;

fn unpack(text: &str) -> Sums {
    let parts = text.split(',').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let words: Vec<&str> = part.split(' ').collect();
            let [kind, currency, count, total] = words[..] else {
                panic!("payment totals hold {part:?}");
            };
            let key = (kind.to_owned(), currency.to_owned());
            (key, (count.parse().unwrap(), total.parse().unwrap()))
        })
        .collect()
}

/// Each row holds the sums of its span and of those before it in its group, and every span with an order has one.
pub fn totals(tables: &Tables, findings: &mut Findings) {
    let counts = |order: &Order| Status::from_code(order.status).is_some_and(|status| !status.is_cancelled());
    // While a restaurant is being deleted, its account's sums still hold what is left of it.
    let in_between: BTreeSet<&Id> = tables
        .orders
        .iter()
        .filter(|order| tables.is_being_deleted(&order.restaurant))
        .map(|order| &order.account)
        .collect();
    let is_deleting = tables
        .restaurants
        .values()
        .any(|is_being_deleted| *is_being_deleted);
    // The sums of each span alone, by scope and level.
    let mut spans: BTreeMap<(&Id, i64), BTreeMap<i64, Sums>> = BTreeMap::new();
    for order in tables.live_orders().filter(|order| counts(order)) {
        let unit = order.created_at.div_euclid(UNIT);
        for (scope, level) in [&order.account, &order.restaurant]
            .into_iter()
            .flat_map(|scope| LEVELS.map(|level| (scope, level)))
        {
            let of_level = spans.entry((scope, level)).or_default();
            let sums = of_level.entry(unit >> (GROUP_BITS * level)).or_default();
            let key = (order.payment_type.clone(), order.currency.clone());
            let sum = sums.entry(key).or_default();
            *sum = (sum.0 + 1, sum.1 + order.total);
        }
    }
    let is_account = |id: &Id| tables.accounts.iter().any(|account| account.id == *id);
    let is_unsettled = |scope: &Id| {
        tables.is_being_deleted(scope) || in_between.contains(scope) || is_deleting && is_account(scope)
    };
    for ((scope, level, span), text) in &tables.totals {
        if is_unsettled(scope) {
            continue;
        }
        let group = if *level == 2 {
            i64::MIN
        } else {
            span >> GROUP_BITS << GROUP_BITS
        };
        let mut expected = Sums::new();
        for (_, sums) in spans
            .get(&(scope, *level))
            .into_iter()
            .flat_map(|it| it.range(group..=*span))
        {
            for (key, (count, total)) in sums {
                let sum = expected.entry(key.clone()).or_default();
                *sum = (sum.0 + count, sum.1 + total);
            }
        }
        findings.equal(
            &unpack(text),
            &expected,
            format!("the sum of span {span} of level {level}"),
            scope,
        );
    }
    for ((scope, level), of_level) in spans.iter().filter(|((scope, _), _)| !is_unsettled(scope)) {
        for span in of_level.keys() {
            let is_there = tables.totals.contains_key(&((*scope).clone(), *level, *span));
            findings.expect(is_there, format!("no sum of span {span} of level {level}"), scope);
        }
    }
    for (scope, ..) in tables.totals.keys() {
        let is_known = is_account(scope) || tables.restaurants.contains_key(scope);
        findings.expect(is_known, "a sum of nobody", scope);
    }
}

/// Up to where search has come, every order has its words, and every word its place; nothing else has.
pub fn search(tables: &Tables, findings: &mut Findings) {
    let mut expected_words = BTreeMap::new();
    for order in &tables.orders {
        let reached = tables.searched.get(&order.account).copied().unwrap_or(0);
        if order.position > reached {
            continue;
        }
        let content = tables.contents.get(&order.id).map(String::as_str);
        let content: Value = content.map_or(Value::Null, |body| serde_json::from_str(body).unwrap());
        let subject = Subject {
            provider_order_id: &order.provider_order_id,
            short_code: order.short_code.as_deref(),
            customer: content["customer"]["name"].as_str(),
            phone: content["customer"]["phone"].as_str(),
        };
        let words: Vec<String> = subject.words().into_iter().collect();
        expected_words.insert((order.account.clone(), order.position), words.join(" "));
    }
    let mut expected_places = BTreeSet::new();
    for ((account, position), words) in &expected_words {
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            expected_places.insert((account.clone(), word.as_bytes().to_vec(), *position));
        }
        let stored = tables.order_words.get(&(account.clone(), *position));
        findings.equal(
            &stored,
            &Some(words),
            format!("the words of place {position}"),
            account,
        );
    }
    for (account, position) in tables.order_words.keys() {
        let is_known = expected_words.contains_key(&(account.clone(), *position));
        findings.expect(
            is_known,
            format!("words of no order at place {position}"),
            account,
        );
    }
    for (account, word, position) in tables.word_places.symmetric_difference(&expected_places) {
        let word = String::from_utf8_lossy(word);
        findings.expect(false, format!("the word {word} at place {position}"), account);
    }
}

/// An order waits for its platform exactly while calls to it are open, unless an earlier one has failed.
pub fn calls(tables: &Tables, findings: &mut Findings) {
    let mut calls: BTreeMap<&Id, Vec<&Call>> = BTreeMap::new();
    for call in &tables.calls {
        calls.entry(&call.order).or_default().push(call);
    }
    for order in tables.live_orders() {
        let of_order = calls.remove(&order.id).unwrap_or_default();
        let numbers: Vec<i64> = of_order.iter().map(|call| call.number).collect();
        let expected: Vec<i64> = (1..).take(numbers.len()).collect();
        findings.equal(&numbers, &expected, "the numbers of an order's calls", &order.id);
        let is_open = |call: &&&Call| call.state == "open";
        let open = of_order.iter().filter(is_open).count();
        let tells = |call: &&&Call| {
            let kind = CallKind::named(&call.kind).unwrap();
            !kind.is_question() && kind != CallKind::Ready
        };
        let telling = of_order.iter().filter(is_open).filter(tells).count();
        findings.expect(
            order.sync_state != "pending" || open > 0,
            "an order waits for its platform, and no call is open",
            &order.id,
        );
        findings.expect(
            telling == 0 || ["pending", "failed"].contains(&order.sync_state.as_str()),
            format!(
                "{telling} calls are open, and the order says {}",
                order.sync_state
            ),
            &order.id,
        );
    }
}

/// What belongs to something belongs to something that is there.
pub fn references(tables: &Tables, findings: &mut Findings) {
    let orders: BTreeSet<&Id> = tables.orders.iter().map(|order| &order.id).collect();
    let events: BTreeSet<&Id> = tables.events.iter().map(|event| &event.id).collect();
    let accounts: BTreeSet<&Id> = tables.accounts.iter().map(|account| &account.id).collect();
    for order in &tables.orders {
        findings.expect(
            accounts.contains(&order.account),
            "an order of no account",
            &order.id,
        );
        let restaurant = &order.restaurant;
        findings.expect(
            tables.restaurants.contains_key(restaurant),
            "an order of no restaurant",
            &order.id,
        );
        findings.expect(
            tables.contents.contains_key(&order.id),
            "an order without content",
            &order.id,
        );
        if let Some(last_order_at) = tables.integrations.get(&order.integration) {
            findings.expect(
                last_order_at.is_some(),
                "an integration that knows of no order",
                &order.id,
            );
        }
    }
    let referring = [
        ("content of no order", tables.contents.keys().collect::<Vec<_>>()),
        (
            "a timeline of no order",
            tables.timeline.iter().map(|line| &line.order).collect(),
        ),
        (
            "an event of no order",
            tables
                .events
                .iter()
                // Sweeping removes events and orders side by side, and each order has several events.
                .filter(|event| tables.restaurants.get(&event.restaurant) != Some(&true))
                .filter_map(|event| event.order.as_ref())
                .collect(),
        ),
        (
            "a call of no order",
            tables.calls.iter().map(|call| &call.order).collect(),
        ),
        ("a message of no order", tables.messages.iter().collect()),
    ];
    for (what, ids) in referring {
        for id in ids {
            findings.expect(orders.contains(id), what, id);
        }
    }
    for (event, _) in &tables.attempts {
        findings.expect(events.contains(event), "an attempt of no event", event);
    }
    for event in &tables.events {
        let restaurant = &event.restaurant;
        findings.expect(
            accounts.contains(&event.account),
            "an event of no account",
            &event.id,
        );
        findings.expect(
            tables.restaurants.contains_key(restaurant),
            "an event of no restaurant",
            &event.id,
        );
    }
}
