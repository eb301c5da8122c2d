//! The scenarios: what is sent, what is expected, and how each is played.

use super::contents;
use serde_json::Value;

pub struct Case {
    pub id: &'static str,
    pub title: &'static str,
    pub sent: &'static str,
    pub expected: &'static str,
    /// With a POS that acts: must it accept the orders, too?
    pub accepts: bool,
    pub needs: Needs,
    pub play: Play,
}

/// What a scenario is pointless without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// The POS sees the content of orders, in events or because it reads them.
    Content,
    /// Events are signed.
    Signatures,
}

/// How a scenario is played.
#[derive(Clone, Copy)]
pub enum Play {
    /// One order of a shop whose content is changed.
    Order(fn(&mut Value)),
    LifeCycle,
    DuplicateEvent,
    DuplicatePush,
    LostAnswer,
    Outage,
    OutOfOrder,
    CancelBeforeAccept,
    CancelAfterAccept,
    CancelOnTheWay,
    TurkishLetters,
    PaymentTypes,
    Scheduled,
    Couriers,
    Revision,
    SameNumber,
    Burst,
    SlowSender,
    UnknownFields,
    UnknownKind,
    WrongKey,
    Signature,
    Restart,
    Redelivery,
}

const fn case(id: &'static str, title: &'static str, play: Play) -> Case {
    Case {
        id,
        title,
        sent: "",
        expected: TAKEN,
        accepts: true,
        needs: Needs::Nothing,
        play,
    }
}

const TAKEN: &str = "2xx for every event, in time.";

impl Case {
    const fn sends(mut self, sent: &'static str) -> Self {
        self.sent = sent;
        self
    }

    const fn expects(mut self, expected: &'static str) -> Self {
        self.expected = expected;
        self
    }

    const fn needs(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }

    /// A POS that acts need not accept these orders.
    const fn without_accepting(mut self) -> Self {
        self.accepts = false;
        self
    }
}

/// A scenario about the content of an order.
const fn order(id: &'static str, title: &'static str, change: fn(&mut Value)) -> Case {
    case(id, title, Play::Order(change)).needs(Needs::Content)
}

pub static CASES: [Case; 30] = [
    case("life-cycle", "An order from arrival to delivery", Play::LifeCycle)
        .sends("A new order that is accepted, leaves the kitchen and is delivered."),
    case("duplicate-event", "The same event three times", Play::DuplicateEvent)
        .sends("An event twice at the same moment, and then once more, with the same veri.id.")
        .expects("2xx each time: a known veri.id is no error."),
    case("duplicate-push", "A platform sends an order twice", Play::DuplicatePush)
        .sends("The simulated Getir pushes one order twice. Garson makes one order and one event of it.")
        .expects("2xx, and exactly one siparis.olusturuldu."),
    case("lost-answer", "The answer of the POS is lost", Play::LostAnswer)
        .sends("An event whose answer does not reach Garson, as after a timeout, so that it is sent again with the same veri.id.")
        .expects("2xx to the event and to the repeat."),
    case("outage", "The POS was unreachable", Play::Outage)
        .sends("Three orders while the POS cannot be reached. Their events come with the second retry."),
    case("out-of-order", "A later event comes first", Play::OutOfOrder)
        .sends("An order whose siparis.olusturuldu fails twice and which is cancelled meanwhile: sequence 2 comes before sequence 1.")
        .expects("2xx to both; the order stays cancelled.")
        .without_accepting(),
    case("cancel-before-accept", "The customer cancels a new order", Play::CancelBeforeAccept)
        .sends("A new order that is cancelled before the POS hears of it, and then the cancellation.")
        .expects("2xx to both. Accepting it is answered 409, which must not stop the POS.")
        .without_accepting(),
    case("cancel-after-accept", "The customer cancels an accepted order", Play::CancelAfterAccept)
        .sends("An order that is accepted and then cancelled, with a long Turkish note."),
    case("cancel-on-the-way", "The platform cancels an order on its way", Play::CancelOnTheWay)
        .sends("An order of the simulated Trendyol that left the kitchen and is cancelled by the platform."),
    order("masked-phone", "A masked phone number", contents::masked_phone)
        .sends("A customer with a shared number, an extension of it (phoneCode), and an abbreviated name."),
    order("no-phone", "No customer data", contents::no_customer)
        .sends("An order whose platform hides name, phone and address: all of them are null."),
    order("huge-basket", "500 items", contents::huge_basket)
        .sends("An order of 500 different items, half of them with options."),
    order("huge-note", "Notes of 2000 letters", contents::huge_notes)
        .sends("An order whose note, directions and item's note have 2000 letters each, as many as are possible."),
    case("turkish-letters", "Turkish letters everywhere", Play::TurkishLetters)
        .sends("An order whose id, names, options and notes have the letters çğıöşüÇĞİÖŞÜ; it is cancelled with such a note.")
        .expects("2xx for every event: read bodies as UTF-8, and encode ids in paths."),
    order("emoji-and-controls", "Emoji, right-to-left and control characters", contents::odd_characters)
        .sends("Emoji of several code points, Arabic and Hebrew, bidirectional marks, tabs, line breaks, escape sequences."),
    order("zero-price", "Items without a price", contents::zero_price)
        .sends("A free item, a free option, and a total of zero."),
    order("discount-above-items", "A discount above the price of the items", contents::large_discount)
        .sends("Items for 50 TL, a discount of 60 TL in two parts, a delivery fee and a tip."),
    case("payment-types", "All payment types", Play::PaymentTypes)
        .sends("An order for each of the eight payment types, and one in cash for which the customer needs change.")
        .needs(Needs::Content),
    case("scheduled", "Scheduled orders", Play::Scheduled)
        .sends("An order for later of the shop (400), and one of the simulated Getir that awaits its pre-approval (325)."),
    case("couriers", "All platforms and couriers", Play::Couriers)
        .sends("Orders of four simulated platforms, with the platform's and the restaurant's couriers, and one that is collected."),
    case("revision", "The content of an order changes", Play::Revision)
        .sends("An order from which an item is removed afterwards: the opt-in event siparis.guncellendi.")
        .expects("2xx, also to an event that the POS may not know."),
    case("same-number", "One number, three orders", Play::SameNumber)
        .sends("Orders with the same providerOrderId on two platforms and in two restaurants.")
        .expects("2xx. orderId tells them apart; a path with the number is answered 409."),
    case("burst", "200 orders at once", Play::Burst)
        .sends("200 orders, whose events come over up to 16 connections at the same time."),
    case("slow-sender", "A slow sender", Play::SlowSender)
        .sends("An event whose body takes two seconds to come, and then two events on kept connections.")
        .expects("2xx, and not before the whole body is read."),
    case("unknown-fields", "Unknown fields", Play::UnknownFields)
        .sends("An event with fields that no version has yet.")
        .expects("2xx: unknown fields are ignored."),
    case("unknown-kind", "An unknown kind of event", Play::UnknownKind)
        .sends("An event about a known order whose olay no version has yet.")
        .expects("2xx: unknown events are ignored."),
    case("wrong-key", "Wrong keys are refused", Play::WrongKey)
        .sends("Events without a key, and with keys that differ in one character.")
        .expects("401 or 403 to each.")
        .without_accepting(),
    case("signature", "Wrong signatures are refused", Play::Signature)
        .sends("Events with the right key: not signed, changed after signing, and with an hour-old signature; then a good one.")
        .expects("4xx to the first three, 2xx to the last.")
        .needs(Needs::Signatures)
        .without_accepting(),
    case("restart", "Garson is killed and starts again", Play::Restart)
        .sends("Four orders while Garson is killed with events under way, and one after its restart.")
        .expects("2xx for every event. One comes again with the same veri.id; none is lost."),
    case("redelivery", "Events of the day are sent again", Play::Redelivery)
        .sends("The events of five finished orders, all of them once more, in the same order.")
        .expects("2xx for every repeat."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn scenarios_are_described_and_have_ids_of_their_own() {
        let ids: BTreeSet<&str> = CASES.iter().map(|case| case.id).collect();
        assert_eq!(ids.len(), CASES.len());
        for case in &CASES {
            let is_plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(
                case.id.chars().all(is_plain) && case.id.len() <= 20,
                "{}",
                case.id
            );
            assert!(
                !case.sent.is_empty() && !case.expected.is_empty() && !case.title.is_empty(),
                "{}",
                case.id
            );
        }
    }
}
