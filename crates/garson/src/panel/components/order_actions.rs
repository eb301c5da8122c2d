//! The actions of an order: those that fit its status and its courier. They are forms that return to the page they are on.

use crate::panel::kit::{format, names, phone};
use crate::panel::words::{ActionWords, BoardWords, Lang};
use askama::Template;
use garson_core::order::{Courier, Customer, MAX_PREPARATION_MINUTES, Order, OrderContent, Reason, Status};

/// Preparation times to choose from, in minutes.
const CHIPS: [u32; 5] = [10, 15, 20, 30, 45];

#[derive(Template)]
#[template(path = "order_actions.html")]
pub struct OrderActions {
    t: BoardWords,
    a: ActionWords,
    csrf: String,
    id: String,
    back: String,
    /// The displayed status. The step is refused if the order has moved on since.
    seen: i64,
    /// The first one is the usual next step.
    steps: Vec<StepButton>,
    preparation: Option<PreparationForm>,
    /// The preparation time that was chosen, and whether the platform got it.
    chosen_minutes: Option<(u32, bool)>,
    /// The platform whose courier does the next steps.
    continued_by: Option<String>,
    /// A step of the platform's courier that staff can mark on the order's page.
    by_hand: Option<StepButton>,
    pub can_be_cancelled: bool,
    /// The reasons that are known without a call to the platform; the board's script loads the others.
    reasons: Vec<Reason>,
    /// The platform was asked for its reasons and gave none.
    has_no_reasons: bool,
    is_on_board: bool,
    call: Option<CallLink>,
}

struct StepButton {
    action: &'static str,
    label: &'static str,
}

/// Accepting with a preparation time.
struct PreparationForm {
    chips: [u32; 5],
    max: u32,
    is_sent: bool,
}

struct CallLink {
    href: String,
    code: String,
}

impl OrderActions {
    pub fn on_order_page(
        lang: Lang,
        csrf: &str,
        order: &Order,
        content: &OrderContent,
        reasons: Vec<Reason>,
    ) -> Self {
        let back = format!("/orders/{}", order.id);
        let reasons = names::reasons(lang, reasons);
        let mut actions = Self::on_card(lang, csrf, order, content, reasons, back);
        actions.is_on_board = false;
        actions.call = call_link(&content.customer);
        if actions.continued_by.is_some() {
            actions.by_hand = step_by_hand(order.status, &actions.t, &actions.a);
        }
        actions
    }

    pub fn on_card(
        lang: Lang,
        csrf: &str,
        order: &Order,
        content: &OrderContent,
        reasons: Vec<Reason>,
        back: String,
    ) -> Self {
        let (t, a) = (BoardWords::of(lang), ActionWords::of(lang));
        let courier = content.fulfilment.courier;
        let platform = garson_platforms::of(order.provider);
        let takes_time = platform.is_some_and(|it| it.takes_preparation_time(order));
        let asks_for_reasons = platform.is_some_and(|it| it.capability().live_reasons);
        let is_under_way = matches!(order.status, Status::Preparing | Status::OnTheWay);
        Self {
            csrf: csrf.to_owned(),
            id: order.id.to_string(),
            back,
            seen: order.status.code(),
            steps: steps(order, courier, &t, &a),
            preparation: (order.status == Status::New).then_some(PreparationForm {
                chips: CHIPS,
                max: MAX_PREPARATION_MINUTES,
                is_sent: takes_time,
            }),
            chosen_minutes: order
                .preparation_minutes
                .filter(|_| order.status == Status::Preparing)
                .map(|minutes| (minutes, takes_time)),
            continued_by: (is_under_way && courier == Courier::Platform)
                .then(|| format::provider(lang, order.provider)),
            by_hand: None,
            can_be_cancelled: !order.status.is_over(),
            has_no_reasons: reasons.is_empty() && !asks_for_reasons,
            reasons,
            is_on_board: true,
            // Who calls about an order that is over does so from its page.
            call: call_link(&content.customer).filter(|_| !order.status.is_over()),
            t,
            a,
        }
    }
}

/// The steps that the restaurant does. What a platform's courier does, the platform reports.
fn steps(order: &Order, courier: Courier, t: &BoardWords, a: &ActionWords) -> Vec<StepButton> {
    let ready = (order.ready_at.is_none()).then_some(StepButton {
        action: "ready",
        label: t.ready,
    });
    let step = |action, label| Some(StepButton { action, label });
    let steps = match (order.status, courier) {
        (Status::New, _) => [step("verify", t.verify), None],
        (Status::Scheduled, _) => [step("verify", t.pre_approve), None],
        (Status::Preparing, Courier::Platform) => [ready, None],
        (Status::Preparing, Courier::Restaurant) => [step("next", t.next_on_the_way), ready],
        (Status::Preparing, Courier::None) => [ready, step("next", a.handed_to_customer)],
        (Status::OnTheWay, Courier::Restaurant | Courier::None) => [step("next", t.next_delivered), None],
        _ => [None, None],
    };
    steps.into_iter().flatten().collect()
}

/// The step of the platform's courier, for the case that the platform does not report it.
fn step_by_hand(status: Status, t: &BoardWords, a: &ActionWords) -> Option<StepButton> {
    let label = match status {
        Status::Preparing => a.handed_to_courier,
        Status::OnTheWay => t.next_delivered,
        _ => return None,
    };
    Some(StepButton {
        action: "next",
        label,
    })
}

fn call_link(customer: &Customer) -> Option<CallLink> {
    let code = customer.phone_code.as_deref();
    let href = phone::tel_link(customer.phone.as_deref()?, code)?;
    Some(CallLink {
        href,
        code: code.unwrap_or_default().trim().to_owned(),
    })
}

/// The label of an action, to ask whether it is meant.
pub fn label(lang: Lang, action: &str, seen: Option<Status>) -> Option<&'static str> {
    let t = BoardWords::of(lang);
    match (action, seen) {
        ("verify", Some(Status::Scheduled)) => Some(t.pre_approve),
        ("verify", _) => Some(t.verify),
        ("ready", _) => Some(t.ready),
        ("next", Some(Status::Preparing)) => Some(t.next_on_the_way),
        ("next", _) => Some(t.next_delivered),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::testing::an_order;
    use garson_core::time::Timestamp;

    fn labels(status: Status, courier: Courier, is_ready: bool) -> Vec<&'static str> {
        let order = Order {
            status,
            ready_at: is_ready.then_some(Timestamp::from_millis(1)),
            ..an_order("1")
        };
        let (t, a) = (BoardWords::of(Lang::En), ActionWords::of(Lang::En));
        steps(&order, courier, &t, &a)
            .iter()
            .map(|step| step.label)
            .collect()
    }

    #[test]
    fn steps_fit_the_courier() {
        use Status::{Delivered, New, OnTheWay, Preparing, Scheduled, ScheduledAccepted};
        for courier in [Courier::Platform, Courier::Restaurant, Courier::None] {
            assert_eq!(labels(New, courier, false), ["Accept"]);
            assert_eq!(labels(Scheduled, courier, false), ["Pre-approve"]);
            assert!(labels(ScheduledAccepted, courier, false).is_empty());
            assert!(labels(Delivered, courier, true).is_empty());
        }
        assert_eq!(labels(Preparing, Courier::Platform, false), ["Ready"]);
        assert!(labels(Preparing, Courier::Platform, true).is_empty());
        assert!(labels(OnTheWay, Courier::Platform, true).is_empty());
        assert_eq!(
            labels(Preparing, Courier::Restaurant, false),
            ["On its way", "Ready"]
        );
        assert_eq!(labels(Preparing, Courier::Restaurant, true), ["On its way"]);
        assert_eq!(labels(OnTheWay, Courier::Restaurant, true), ["Delivered"]);
        assert_eq!(
            labels(Preparing, Courier::None, false),
            ["Ready", "Handed to the customer"]
        );
        assert_eq!(labels(Preparing, Courier::None, true), ["Handed to the customer"]);
        assert_eq!(labels(OnTheWay, Courier::None, true), ["Delivered"]);
    }
}
