//! What every platform wants to hear of an order on its way, by who carries it.

use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::Courier::{self, Pickup, Restaurant};

/// The way of one kind of order.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedCalls {
    pub platform: Platform,
    pub courier: Courier,
    pub verify: ExpectedStep,
    pub ready: ExpectedStep,
    pub on_the_way: ExpectedStep,
    pub delivered: ExpectedStep,
}

/// A step: the call that tells the platform of it, if it wants to be told, and where the order stands there then.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedStep {
    pub call: Option<&'static str>,
    pub state: &'static str,
}

impl ExpectedStep {
    /// What `providerSync` comes to.
    pub fn sync(&self) -> &'static str {
        match self.call {
            Some(_) => "done",
            None => "not_needed",
        }
    }
}

const fn told(call: &'static str, state: &'static str) -> ExpectedStep {
    ExpectedStep {
        call: Some(call),
        state,
    }
}

const fn untold(state: &'static str) -> ExpectedStep {
    ExpectedStep { call: None, state }
}

const fn expected(platform: Platform, courier: Courier, stops: [ExpectedStep; 4]) -> ExpectedCalls {
    let [verify, ready, on_the_way, delivered] = stops;
    ExpectedCalls {
        platform,
        courier,
        verify,
        ready,
        on_the_way,
        delivered,
    }
}

/// Every platform with every courier that it has.
pub const EXPECTED_CALLS: [ExpectedCalls; 10] = [
    expected(
        Getir,
        Courier::Platform,
        [
            told("verify", "500"),
            told("prepare", "550"),
            told("handover", "600"),
            untold("600"),
        ],
    ),
    expected(
        Getir,
        Restaurant,
        [
            told("verify", "500"),
            untold("500"),
            told("prepare", "700"),
            told("deliver", "900"),
        ],
    ),
    expected(
        Yemeksepeti,
        Courier::Platform,
        [
            told("order_accepted", "ACCEPTED"),
            told("prepared", "PREPARED"),
            untold("PREPARED"),
            untold("PREPARED"),
        ],
    ),
    expected(
        Yemeksepeti,
        Restaurant,
        [
            told("order_accepted", "ACCEPTED"),
            untold("ACCEPTED"),
            told("order_picked_up", "PICKED_UP"),
            untold("PICKED_UP"),
        ],
    ),
    expected(
        Yemeksepeti,
        Pickup,
        [
            told("order_accepted", "ACCEPTED"),
            untold("ACCEPTED"),
            told("order_picked_up", "PICKED_UP"),
            untold("PICKED_UP"),
        ],
    ),
    expected(
        Trendyol,
        Courier::Platform,
        [
            told("picked", "Picking"),
            told("invoiced", "Invoiced"),
            untold("Invoiced"),
            untold("Invoiced"),
        ],
    ),
    expected(
        Trendyol,
        Restaurant,
        [
            told("picked", "Picking"),
            told("invoiced", "Invoiced"),
            told("manual-shipped", "Shipped"),
            told("manual-delivered", "Delivered"),
        ],
    ),
    expected(
        Trendyol,
        Pickup,
        [
            told("picked", "Picking"),
            told("invoiced", "Invoiced"),
            untold("Invoiced"),
            told("manual-delivered", "Delivered"),
        ],
    ),
    expected(
        Migros,
        Courier::Platform,
        [
            told("update-status", "APPROVED"),
            told("update-status", "PREPARED"),
            untold("PREPARED"),
            untold("PREPARED"),
        ],
    ),
    expected(
        Migros,
        Restaurant,
        [
            told("update-status", "APPROVED"),
            told("update-status", "PREPARED"),
            told("update-status", "DELIVERY"),
            told("update-status", "COMPLETED"),
        ],
    ),
];

/// One expected for each platform, that of its own courier.
pub fn own_couriers() -> impl Iterator<Item = ExpectedCalls> {
    EXPECTED_CALLS
        .into_iter()
        .filter(|expected| expected.courier == Courier::Platform)
}

/// What a journal says of calls that were all answered well.
pub fn answered(calls: &[&str]) -> Vec<String> {
    calls.iter().map(|call| format!("{call} 200")).collect()
}
