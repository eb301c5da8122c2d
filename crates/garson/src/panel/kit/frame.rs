//! What every page has around it: the way to the others, the language, the way out.

use super::assets;
use super::flash::Flash;
use super::lang::Lang;
use super::visitor::{Guest, Visitor};
use crate::panel::PAGES;
use crate::panel::kit::format;
use crate::panel::words::{FrameWords, PartWords};
use axum::response::{Html, IntoResponse, Response};
use garson_core::money::{Currency, Minor};
use garson_core::platform::Provider;
use garson_core::time::{Timestamp, Zone};

/// The pages that the way leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Board,
    Orders,
    Restaurants,
    Reports,
    Payments,
    Webhook,
    Keys,
    Status,
    Sessions,
    /// A page that none of them is.
    Nowhere,
}

impl Place {
    /// Where it is, and what it is called.
    fn sign(self, t: &FrameWords) -> (&'static str, &'static str) {
        match self {
            Self::Board => ("/", t.board),
            Self::Orders => ("/orders", t.orders),
            Self::Restaurants => ("/restaurants", t.restaurants),
            Self::Reports => ("/reports", t.reports),
            Self::Payments => ("/payments", t.payments),
            Self::Webhook => ("/webhook", t.webhook),
            Self::Keys => ("/keys", t.keys),
            Self::Status => ("/status", t.status),
            Self::Sessions => ("/sessions", t.sessions),
            Self::Nowhere => ("/", ""),
        }
    }
}

/// Is there such a page?
pub fn has_page(place: Place) -> bool {
    PAGES.iter().any(|(there, _)| *there == place)
}

/// A step of the way.
pub struct Link {
    pub href: &'static str,
    pub name: &'static str,
    pub is_here: bool,
}

/// What the frame shows, and what every page writes with.
pub struct Frame {
    pub t: FrameWords,
    /// The texts of the pieces in `parts.html`.
    pub p: PartWords,
    pub lang: Lang,
    pub place: Place,
    /// Who is signed in; nothing on the page where one does that.
    pub account: Option<String>,
    pub csrf: String,
    /// The address of the page, to come back to.
    pub here: String,
    /// What has just happened, to be said once.
    pub flash: Option<Flash>,
    pub style: &'static str,
    pub script: &'static str,
}

impl Frame {
    pub fn new(visitor: &Visitor, place: Place) -> Self {
        Self {
            account: Some(visitor.account.name.clone()),
            csrf: visitor.csrf.clone(),
            here: visitor.here.clone(),
            flash: visitor.flash.clone(),
            place,
            ..Self::bare(visitor.lang)
        }
    }

    /// The frame of a page that needs no signing in.
    pub fn for_guest(guest: &Guest) -> Self {
        Self {
            csrf: guest.csrf.clone(),
            here: guest.here.clone(),
            ..Self::bare(guest.lang)
        }
    }

    /// A frame without any form in it.
    pub fn bare(lang: Lang) -> Self {
        Self {
            t: FrameWords::of(lang),
            p: PartWords::of(lang),
            lang,
            place: Place::Nowhere,
            account: None,
            csrf: String::new(),
            here: "/".to_owned(),
            flash: None,
            style: assets::style(),
            script: assets::script(),
        }
    }

    /// The way to the pages that there are.
    pub fn links(&self) -> Vec<Link> {
        PAGES
            .iter()
            .map(|(place, _)| {
                let (href, name) = place.sign(&self.t);
                Link {
                    href,
                    name,
                    is_here: *place == self.place,
                }
            })
            .collect()
    }

    /// A moment as people write it: `15.11.2026 14:05`.
    pub fn moment(&self, at: &Timestamp) -> String {
        format::moment(self.lang, &Zone::istanbul(), *at)
    }

    /// The same, where there may be none.
    pub fn moment_or(&self, at: &Option<Timestamp>, otherwise: &str) -> String {
        at.as_ref()
            .map_or_else(|| otherwise.to_owned(), |at| self.moment(at))
    }

    /// An amount as people write it: `1.234,50 ₺`.
    pub fn money(&self, amount: &Minor, currency: &Currency) -> String {
        format::money(self.lang, *amount, *currency)
    }

    /// A platform as people call it.
    pub fn provider(&self, provider: &Provider) -> String {
        format::provider(self.lang, *provider)
    }
}

/// Whose page has said what was to be said, so that it is not said again.
#[derive(Clone, Copy)]
pub struct HasSpoken;

/// A page as an answer.
pub fn page(template: &impl askama::Template) -> Response {
    let mut response = part(template);
    response.extensions_mut().insert(HasSpoken);
    response
}

/// A part of a page as an answer to the script.
pub fn part(template: &impl askama::Template) -> Response {
    match template.render() {
        Ok(text) => Html(text).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be made");
            http::StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
