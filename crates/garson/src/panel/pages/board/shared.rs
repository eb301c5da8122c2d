//! What the board and its live stream both show.

use crate::flow::read::attention::PlatformProblem;
use crate::panel::kit::explain;
use crate::panel::kit::layout::Layout;
use crate::panel::words::AttentionWords;
use askama::Template;

/// The platforms that have connection problems.
#[derive(Template)]
#[template(path = "platform_alerts.html")]
pub struct PlatformAlerts {
    t: AttentionWords,
    alerts: Vec<PlatformAlert>,
}

struct PlatformAlert {
    provider: String,
    restaurants: String,
    message: String,
    is_login_refused: bool,
    at: String,
}

impl PlatformAlerts {
    pub fn new(layout: &Layout, platforms: Vec<PlatformProblem>) -> Self {
        let alert = |it: PlatformProblem| PlatformAlert {
            provider: layout.provider(&it.provider),
            restaurants: it.restaurants.into_iter().collect::<Vec<_>>().join(", "),
            is_login_refused: it.message.is_access_refused(),
            message: explain::platform(layout.lang, &it.message),
            at: layout.timestamp(&it.at),
        };
        Self {
            t: AttentionWords::of(layout.lang),
            alerts: platforms.into_iter().map(alert).collect(),
        }
    }
}
