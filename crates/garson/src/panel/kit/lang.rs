//! The languages of the panel, and how one is chosen: Turkish, unless the visitor has switched.

use super::cookies;
use super::visitor::GuestSent;
use crate::http::state::HttpState as Api;
use crate::panel::kit::security_headers::is_secure;
use axum::Router;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use http::{HeaderMap, header};
use std::sync::Arc;

const YEAR: u32 = 365 * 24 * 60 * 60;

/// A language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    #[default]
    Tr,
    En,
}

impl Lang {
    pub const ALL: [Self; 2] = [Self::Tr, Self::En];

    pub fn code(self) -> &'static str {
        match self {
            Self::Tr => "tr",
            Self::En => "en",
        }
    }

    /// The other one, which can be switched to.
    pub fn other(self) -> Self {
        match self {
            Self::Tr => Self::En,
            Self::En => Self::Tr,
        }
    }

    pub fn of(headers: &HeaderMap) -> Self {
        let chosen = cookies::get(headers, cookies::LANGUAGE);
        Self::ALL
            .into_iter()
            .find(|lang| chosen == Some(lang.code()))
            .unwrap_or_default()
    }
}

pub fn routes() -> Router<Arc<Api>> {
    Router::new().route("/language", post(switch))
}

/// Switches the language and goes back to where the visitor was.
async fn switch(GuestSent { headers, fields, .. }: GuestSent) -> Response {
    let lang = if fields.get("to") == "en" {
        Lang::En
    } else {
        Lang::Tr
    };
    let cookie = cookies::set(is_secure(&headers), cookies::LANGUAGE, lang.code(), YEAR);
    let back = safe_path(fields.get("back"));
    ([(header::SET_COOKIE, cookie)], Redirect::to(back)).into_response()
}

/// A path of ours; anything that could lead elsewhere becomes the first page.
pub fn safe_path(path: &str) -> &str {
    let is_ours = path.starts_with('/')
        && !path.starts_with("//")
        && path.bytes().all(|b| (0x21..0x7f).contains(&b) && b != b'\\');
    if is_ours { path } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::safe_path;

    #[test]
    fn nothing_leads_elsewhere() {
        assert_eq!(safe_path("/keys?x=1"), "/keys?x=1");
        for wrong in [
            "",
            "//evil.example",
            "https://evil.example",
            "/\\evil",
            "/a\r\nb",
            "keys",
        ] {
            assert_eq!(safe_path(wrong), "/", "{wrong:?}");
        }
    }
}
