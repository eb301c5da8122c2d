//! What staff has to acknowledge on an order: a cancellation while it was being prepared, or an action that its platform refused.

use crate::panel::kit::{explain, format, names};
use crate::panel::words::{ActionWords, Lang};
use askama::Template;
use garson_core::order::{CallKind, Order, Status};
use garson_core::time::Zone;
use garson_store::tables::order_notices::{Notice, NoticeKind};

#[derive(Template)]
#[template(path = "order_notices.html")]
pub struct OrderNotices {
    a: ActionWords,
    csrf: String,
    id: String,
    back: String,
    cancelled: Option<CancelledNotice>,
    refused: Option<RefusedNotice>,
    /// The status of a cancelled order before, in whose column it stays.
    pub cancelled_from: Option<Status>,
}

struct CancelledNotice {
    title: &'static str,
    stops_kitchen: bool,
    reason: String,
}

struct RefusedNotice {
    what: &'static str,
    message: String,
    at: String,
}

impl OrderNotices {
    pub fn new(lang: Lang, csrf: &str, order: &Order, notices: &[Notice], zone: &Zone, back: &str) -> Self {
        let a = ActionWords::of(lang);
        let of_kind = |kind| notices.iter().find(|notice| notice.kind == kind);
        let cancelled = of_kind(NoticeKind::Cancelled);
        Self {
            csrf: csrf.to_owned(),
            id: order.id.to_string(),
            back: back.to_owned(),
            cancelled_from: cancelled.map(|notice| notice.status),
            cancelled: cancelled.map(|notice| cancelled_notice(lang, &a, order, notice)),
            refused: of_kind(NoticeKind::Refused).map(|notice| RefusedNotice {
                what: match notice.call {
                    Some(CallKind::Verify) => a.not_verified,
                    Some(CallKind::Cancel) => a.not_cancelled,
                    _ => a.not_sent_step,
                },
                message: notice
                    .message
                    .as_ref()
                    .map_or_else(String::new, |message| explain::platform(lang, message)),
                at: format::time_of_day(zone, notice.at),
            }),
            a,
        }
    }

    pub fn has_refusal(&self) -> bool {
        self.refused.is_some()
    }
}

fn cancelled_notice(lang: Lang, a: &ActionWords, order: &Order, notice: &Notice) -> CancelledNotice {
    let reason = order.cancellation.as_ref().map(|cancellation| {
        let reason = cancellation.reason.as_ref();
        let reason = reason.map(|reason| names::reason(lang, &reason.name));
        let why: Vec<String> = reason.into_iter().chain(cancellation.note.clone()).collect();
        why.join(" · ")
    });
    let stops_kitchen = notice.status == Status::Preparing;
    CancelledNotice {
        title: if stops_kitchen {
            a.cancelled_while_preparing
        } else {
            a.cancelled_on_the_way
        },
        stops_kitchen,
        reason: reason.unwrap_or_default(),
    }
}
