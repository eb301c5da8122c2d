//! The buttons of an order: next step, ready, cancel. They are forms that return to the page they are on.

use crate::panel::kit::names;
use crate::panel::words::{BoardWords, Lang};
use askama::Template;
use garson_core::order::{Order, Reason, Status};

#[derive(Template)]
#[template(path = "order_actions.html")]
pub struct OrderActions {
    t: BoardWords,
    csrf: String,
    id: String,
    back: String,
    /// The displayed status. The step is refused if the order has moved on since.
    seen: i64,
    next_step: Option<StepButton>,
    can_be_ready: bool,
    pub can_be_cancelled: bool,
    /// The reasons that are known without a call to the platform; the board's script loads the others.
    reasons: Vec<Reason>,
    is_on_board: bool,
}

struct StepButton {
    action: &'static str,
    label: &'static str,
}

impl OrderActions {
    pub fn on_order_page(lang: Lang, csrf: &str, order: &Order, reasons: Vec<Reason>) -> Self {
        let back = format!("/orders/{}", order.id);
        Self {
            is_on_board: false,
            ..Self::on_card(lang, csrf, order, names::reasons(lang, reasons), back)
        }
    }

    pub fn on_card(lang: Lang, csrf: &str, order: &Order, reasons: Vec<Reason>, back: String) -> Self {
        let t = BoardWords::of(lang);
        Self {
            csrf: csrf.to_owned(),
            id: order.id.to_string(),
            back,
            seen: order.status.code(),
            next_step: next_step(order.status, &t),
            can_be_ready: order.status == Status::Preparing && order.ready_at.is_none(),
            can_be_cancelled: !order.status.is_over(),
            reasons,
            is_on_board: true,
            t,
        }
    }
}

fn next_step(status: Status, t: &BoardWords) -> Option<StepButton> {
    let (action, label) = match status {
        Status::New => ("verify", t.verify),
        Status::Scheduled => ("verify", t.pre_approve),
        Status::Preparing => ("next", t.next_on_the_way),
        Status::OnTheWay => ("next", t.next_delivered),
        _ => return None,
    };
    Some(StepButton { action, label })
}
