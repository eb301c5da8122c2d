//! The calls that each platform expects for an order, by courier.

use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::Courier::{self, Pickup, Restaurant};

/// The steps of one kind of order.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedCalls {
    pub platform: Platform,
    pub courier: Courier,
    pub verify: ExpectedStep,
    pub ready: ExpectedStep,
    pub on_the_way: ExpectedStep,
    pub delivered: ExpectedStep,
}

/// A step: its call, if the platform expects one, and the state on the platform afterwards.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedStep {
    pub call: Option<&'static str>,
    pub state: &'static str,
}

impl ExpectedStep {
    /// The final state of `providerSync`.
    pub fn sync(&self) -> &'static str {
        match self.call {
            Some(_) => "done",
            None => "not_needed",
        }
    }
}

const fn call(call: &'static str, state: &'static str) -> ExpectedStep {
    ExpectedStep {
        call: Some(call),
        state,
    }
}

const fn no_call(state: &'static str) -> ExpectedStep {
    ExpectedStep { call: None, state }
}

const fn expected(platform: Platform, courier: Courier, steps: [ExpectedStep; 4]) -> ExpectedCalls {
    let [verify, ready, on_the_way, delivered] = steps;
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
            call("verify", "500"),
            call("prepare", "550"),
            call("handover", "600"),
            no_call("600"),
        ],
    ),
    expected(
        Getir,
        Restaurant,
        [
            call("verify", "500"),
            no_call("500"),
            call("prepare", "700"),
            call("deliver", "900"),
        ],
    ),
    expected(
        Yemeksepeti,
        Courier::Platform,
        [
            call("order_accepted", "ACCEPTED"),
            call("prepared", "PREPARED"),
            no_call("PREPARED"),
            no_call("PREPARED"),
        ],
    ),
    expected(
        Yemeksepeti,
        Restaurant,
        [
            call("order_accepted", "ACCEPTED"),
            no_call("ACCEPTED"),
            call("order_picked_up", "PICKED_UP"),
            no_call("PICKED_UP"),
        ],
    ),
    expected(
        Yemeksepeti,
        Pickup,
        [
            call("order_accepted", "ACCEPTED"),
            no_call("ACCEPTED"),
            call("order_picked_up", "PICKED_UP"),
            no_call("PICKED_UP"),
        ],
    ),
    expected(
        Trendyol,
        Courier::Platform,
        [
            call("picked", "Picking"),
            call("invoiced", "Invoiced"),
            no_call("Invoiced"),
            no_call("Invoiced"),
        ],
    ),
    expected(
        Trendyol,
        Restaurant,
        [
            call("picked", "Picking"),
            call("invoiced", "Invoiced"),
            call("manual-shipped", "Shipped"),
            call("manual-delivered", "Delivered"),
        ],
    ),
    expected(
        Trendyol,
        Pickup,
        [
            call("picked", "Picking"),
            call("invoiced", "Invoiced"),
            no_call("Invoiced"),
            call("manual-delivered", "Delivered"),
        ],
    ),
    expected(
        Migros,
        Courier::Platform,
        [
            call("update-status", "APPROVED"),
            call("update-status", "PREPARED"),
            no_call("PREPARED"),
            no_call("PREPARED"),
        ],
    ),
    expected(
        Migros,
        Restaurant,
        [
            call("update-status", "APPROVED"),
            call("update-status", "PREPARED"),
            call("update-status", "DELIVERY"),
            call("update-status", "COMPLETED"),
        ],
    ),
];

/// One for each platform, with its own courier.
pub fn own_couriers() -> impl Iterator<Item = ExpectedCalls> {
    EXPECTED_CALLS
        .into_iter()
        .filter(|expected| expected.courier == Courier::Platform)
}

/// The journal of calls that all succeeded.
pub fn answered(calls: &[&str]) -> Vec<String> {
    calls.iter().map(|call| format!("{call} 200")).collect()
}
