//! Errors as pages: what happened, and what to do.

use super::explain;
use super::layout::{Layout, page};
use crate::flow::Fault;
use crate::http::error::{ApiError, Code};
use crate::panel::words::{ErrorWords, Lang};
use askama::Template;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

/// An error that becomes a page.
pub struct PanelError {
    lang: Lang,
    pub status: StatusCode,
    /// What happened.
    pub title: &'static str,
    /// What to do.
    pub advice: &'static str,
    /// What the receiver or the platform answered.
    pub detail: String,
    /// The platform refused, or could not be asked.
    pub is_platforms: bool,
    next: NextLink,
    layout: Option<Box<Layout>>,
}

/// The link to continue with.
struct NextLink {
    href: String,
    label: &'static str,
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    layout: Layout,
    t: ErrorWords,
    title: &'static str,
    advice: &'static str,
    detail: String,
    next: NextLink,
}

/// What happened, and what to do.
fn title_and_advice(t: &ErrorWords, code: Code) -> (&'static str, &'static str) {
    match (code, code.status().as_u16()) {
        (Code::OrderCancelled, _) => (t.order_cancelled, t.reload_advice),
        (Code::NoNextStatus, _) => (t.no_next_status, t.reload_advice),
        (Code::NotPreparing, _) => (t.not_preparing, t.reload_advice),
        (Code::OrderMoved, _) => (t.order_moved, t.order_moved_advice),
        (Code::NotDue, _) => (t.not_due, t.not_due_advice),
        (Code::ProviderRefused, _) => (t.provider_refused, t.provider_refused_advice),
        (Code::ReasonNotAccepted, _) => (t.reason_not_accepted, t.reason_not_accepted_advice),
        (Code::AccountDisabled, _) => (t.account_disabled, t.account_disabled_advice),
        (Code::QuotaReached, _) => (t.quota_reached, t.quota_reached_advice),
        (Code::OrderQuotaReached, _) => (t.order_quota_reached, t.quota_reached_advice),
        (Code::RemoteIdTaken, _) => (t.remote_id_taken, t.remote_id_taken_advice),
        (Code::NotConnected, _) => (t.not_connected, t.not_connected_advice),
        (Code::NotSupported, _) => (t.not_supported, t.not_supported_advice),
        (Code::NotCovered, _) => (t.not_covered, t.not_covered_advice),
        (Code::NoWebhook, _) => (t.no_webhook, t.no_webhook_advice),
        (Code::TargetNotAllowed, _) => (t.target_not_allowed, t.target_not_allowed_advice),
        (Code::TargetUnreachable, _) => (t.target_unreachable, t.target_unreachable_advice),
        (Code::ProviderTimeout, _) => (t.platform_timeout, t.platform_timeout_advice),
        (Code::ProviderUnreachable, _) => (t.platform_away, t.platform_away_advice),
        (Code::NotAllowed, _) => (t.not_allowed, t.not_allowed_advice),
        (Code::PrimaryKeyLimited, _) => (t.primary_key_limited, t.primary_key_limited_advice),
        (Code::LastOwner, _) => (t.last_owner, t.last_owner_advice),
        (Code::EmailTaken, _) => (t.email_taken, t.email_taken_advice),
        (Code::MethodNotAllowed, _) => (t.not_a_page, t.not_a_page_advice),
        (Code::RequestTimeout, _) => (t.form_slow, t.form_slow_advice),
        (Code::BodyTooLarge, _) => (t.form_large, t.form_large_advice),
        (_, 404) => (t.not_found, t.not_found_advice),
        (_, 409) => (t.not_possible, t.reload_advice),
        (_, 400..=422) => (t.invalid, t.invalid_advice),
        (_, 429) => (t.too_many, t.too_many_advice),
        (_, 503) => (t.storage_away, t.storage_away_advice),
        _ => (t.failed, t.failed_advice),
    }
}

impl PanelError {
    /// Shows what a receiver or platform answered as the detail; for everything else the title is enough.
    pub fn new(lang: Lang, fault: Fault) -> Self {
        let (detail, is_platforms) = match &fault {
            Fault::ProviderRefused { message }
            | Fault::ProviderUnreachable { message }
            | Fault::ProviderUnclear { message } => (explain::platform(lang, message), true),
            Fault::TargetUnreachable { explanation } => (explain::text(lang, explanation), false),
            Fault::ProviderTimeout => (String::new(), true),
            _ => (String::new(), false),
        };
        let is_link = matches!(fault, Fault::LinkInvalid);
        let has_no_restaurant = matches!(fault, Fault::NoRestaurantLeft);
        let is_unclear = matches!(fault, Fault::ProviderUnclear { .. });
        let mut error = Self::of(lang, ApiError::from(fault));
        error.is_platforms = is_platforms;
        if is_link {
            let t = ErrorWords::of(lang);
            (error.title, error.advice) = (t.link_invalid, t.link_invalid_advice);
        }
        if has_no_restaurant {
            let t = ErrorWords::of(lang);
            (error.title, error.advice) = (t.no_restaurant, t.no_restaurant_advice);
            error.next = NextLink {
                href: "/account".to_owned(),
                label: t.own_account,
            };
        }
        if is_unclear {
            // It did answer, with an error.
            error.title = ErrorWords::of(lang).platform_fails;
        }
        if detail.is_empty() {
            error
        } else {
            Self { detail, ..error }
        }
    }

    pub fn of(lang: Lang, error: ApiError) -> Self {
        let status = error.code.status();
        let t = ErrorWords::of(lang);
        let (title, advice) = title_and_advice(&t, error.code);
        // An unavailable database is logged where it is detected.
        if status.is_server_error() && error.code != Code::StorageUnavailable {
            tracing::error!(code = error.code.as_str(), "a page failed");
        }
        Self {
            lang,
            status,
            title,
            advice,
            // Problems with fields that the page itself cannot show.
            detail: match error.code {
                Code::InvalidField | Code::InvalidParameter => error.message,
                _ => String::new(),
            },
            is_platforms: false,
            next: NextLink {
                href: "/".to_owned(),
                label: t.back,
            },
            layout: None,
        }
    }

    /// A form with an outdated or foreign token. Sending it again would fail again, so the link opens its page.
    pub fn stale_form(lang: Lang, page: &str) -> Self {
        let t = ErrorWords::of(lang);
        Self {
            lang,
            status: StatusCode::FORBIDDEN,
            title: t.stale_form,
            advice: t.stale_form_advice,
            detail: String::new(),
            is_platforms: false,
            next: NextLink {
                href: page.to_owned(),
                label: t.open_again,
            },
            layout: None,
        }
    }

    /// Adds the menu.
    #[must_use]
    pub fn within(mut self, layout: Layout) -> Self {
        self.layout = Some(Box::new(layout));
        self
    }

    /// Title, detail and advice in one line, for a flash message.
    pub fn text(&self) -> String {
        if self.detail.is_empty() {
            format!("{}. {}", self.title, self.advice)
        } else {
            format!("{}: {} {}", self.title, self.detail, self.advice)
        }
    }
}

impl IntoResponse for PanelError {
    fn into_response(self) -> Response {
        let error_page = ErrorPage {
            layout: self
                .layout
                .map_or_else(|| Layout::bare(self.lang), |layout| *layout),
            t: ErrorWords::of(self.lang),
            title: self.title,
            advice: self.advice,
            detail: self.detail,
            next: self.next,
        };
        (self.status, page(&error_page)).into_response()
    }
}
