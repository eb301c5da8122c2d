//! The banner of every page: what of the account needs attention now.

use super::explain;
use super::format;
use crate::flow::read::attention::{Attention, PlatformProblem};
use crate::panel::words::{AttentionWords, Lang};
use askama::Template;

#[derive(Template)]
#[template(path = "attention.html")]
pub struct Banner {
    t: AttentionWords,
    csrf: String,
    here: String,
    /// The board shows the platforms in trouble itself.
    is_on_board: bool,
    lines: Vec<Line>,
}

struct Line {
    text: String,
    detail: String,
    href: &'static str,
    link: &'static str,
    can_be_acknowledged: bool,
}

impl Banner {
    pub fn new(
        lang: Lang,
        attention: &Attention,
        csrf: &str,
        here: &str,
        is_on_board: bool,
        may_acknowledge: bool,
    ) -> Self {
        let t = AttentionWords::of(lang);
        let mut lines = Vec::new();
        if attention.failing_events > 0 {
            lines.push(Line {
                text: t.webhook_failing.to_owned(),
                detail: format!("{}: {}", t.since, attention.failing_events),
                href: "/webhook",
                link: t.show,
                can_be_acknowledged: false,
            });
        }
        if attention.disabled_endpoints > 0 {
            lines.push(Line {
                text: t.endpoint_disabled.to_owned(),
                detail: String::new(),
                href: "/webhook/endpoints",
                link: t.show,
                can_be_acknowledged: false,
            });
        }
        if attention.given_up > 0 {
            lines.push(Line {
                text: format!("{} {}", attention.given_up, t.given_up),
                detail: String::new(),
                href: "/webhook?state=failed",
                link: t.show_failed,
                can_be_acknowledged: may_acknowledge,
            });
        }
        if !is_on_board {
            lines.extend(attention.platforms.iter().map(|it| platform_line(lang, &t, it)));
        }
        Self {
            t,
            csrf: csrf.to_owned(),
            here: here.to_owned(),
            is_on_board,
            lines,
        }
    }
}

fn platform_line(lang: Lang, t: &AttentionWords, problem: &PlatformProblem) -> Line {
    let restaurants: Vec<&str> = problem.restaurants.iter().map(String::as_str).collect();
    let what = if problem.message.is_access_refused() {
        t.login_refused
    } else {
        t.platform_away
    };
    Line {
        text: format!(
            "{} ({}) {what}.",
            format::provider(lang, problem.provider),
            restaurants.join(", ")
        ),
        detail: explain::platform(lang, &problem.message),
        href: "/status",
        link: t.show,
        can_be_acknowledged: false,
    }
}
