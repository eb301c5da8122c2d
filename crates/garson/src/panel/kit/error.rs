//! What went wrong, as a page: what happened, and what to do.

use super::explain;
use super::frame::{Frame, page};
use super::lang::Lang;
use crate::api::{ApiError, Code};
use crate::flow::Fault;
use crate::panel::words::ErrorWords;
use askama::Template;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};

/// An error on its way to a browser.
pub struct PanelError {
    lang: Lang,
    pub status: StatusCode,
    /// What happened, and what to do.
    pub title: &'static str,
    pub advice: &'static str,
    /// What the service or the platform itself says.
    pub detail: String,
    /// The page to go on from.
    way_on: WayOn,
    frame: Option<Box<Frame>>,
}

/// Where to go on from an error.
struct WayOn {
    href: String,
    label: &'static str,
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    frame: Frame,
    t: ErrorWords,
    title: &'static str,
    advice: &'static str,
    detail: String,
    way_on: WayOn,
}

/// What happened and what to do, for each kind of refusal.
fn meaning(t: &ErrorWords, code: Code) -> (&'static str, &'static str) {
    match (code, code.status().as_u16()) {
        (Code::OrderCancelled, _) => (t.order_cancelled, t.reload_advice),
        (Code::NoNextStatus, _) => (t.no_next_status, t.reload_advice),
        (Code::NotPreparing, _) => (t.not_preparing, t.reload_advice),
        (Code::OrderMoved, _) => (t.order_moved, t.order_moved_advice),
        (Code::NotDue, _) => (t.not_due, t.not_due_advice),
        (Code::ProviderRefused, _) => (t.provider_refused, t.provider_refused_advice),
        (Code::ReasonNotAccepted, _) => (t.reason_not_accepted, t.reason_not_accepted_advice),
        (Code::RemoteIdTaken, _) => (t.remote_id_taken, t.remote_id_taken_advice),
        (Code::NotConnected, _) => (t.not_connected, t.not_connected_advice),
        (Code::NotSupported, _) => (t.not_supported, t.not_supported_advice),
        (Code::NotCovered, _) => (t.not_covered, t.not_covered_advice),
        (Code::NoWebhook, _) => (t.no_webhook, t.no_webhook_advice),
        (Code::TargetNotAllowed, _) => (t.target_not_allowed, t.target_not_allowed_advice),
        (Code::TargetUnreachable, _) => (t.target_unreachable, t.target_unreachable_advice),
        (Code::ProviderTimeout, _) => (t.platform_timeout, t.platform_timeout_advice),
        (Code::ProviderUnreachable, _) => (t.platform_away, t.platform_away_advice),
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
    /// What others have said is shown as well, as they say it; everything else is said by the title.
    pub fn new(lang: Lang, fault: Fault) -> Self {
        let detail = match &fault {
            Fault::ProviderRefused { message } | Fault::ProviderUnreachable { message } => Some(message),
            Fault::TargetUnreachable { explanation } => Some(explanation),
            _ => None,
        };
        let detail = explain::optional(lang, detail);
        let error = Self::of(lang, ApiError::from(fault));
        match detail.is_empty() {
            true => error,
            false => Self { detail, ..error },
        }
    }

    pub fn of(lang: Lang, error: ApiError) -> Self {
        let status = error.code.status();
        let t = ErrorWords::of(lang);
        let (title, advice) = meaning(&t, error.code);
        // That storage is away is said by whoever has found out.
        if status.is_server_error() && error.code != Code::StorageUnavailable {
            tracing::error!(code = error.code.as_str(), "a page could not be shown");
        }
        Self {
            lang,
            status,
            title,
            advice,
            // What is wrong with a field that no page has words of its own for.
            detail: match error.code {
                Code::InvalidField | Code::InvalidParameter => error.message,
                _ => String::new(),
            },
            way_on: WayOn {
                href: "/".to_owned(),
                label: t.back,
            },
            frame: None,
        }
    }

    /// A form that is too old, or comes from elsewhere. Sending it again would be refused again: its page must be opened anew.
    pub fn stale_form(lang: Lang, page: &str) -> Self {
        let t = ErrorWords::of(lang);
        Self {
            lang,
            status: StatusCode::FORBIDDEN,
            title: t.stale_form,
            advice: t.stale_form_advice,
            detail: String::new(),
            way_on: WayOn {
                href: page.to_owned(),
                label: t.open_again,
            },
            frame: None,
        }
    }

    /// The same, with the way to the other pages around it.
    #[must_use]
    pub fn within(mut self, frame: Frame) -> Self {
        self.frame = Some(Box::new(frame));
        self
    }

    /// All of it in a line or two, to be said on another page.
    pub fn text(&self) -> String {
        match self.detail.is_empty() {
            true => format!("{}. {}", self.title, self.advice),
            false => format!("{}: {} {}", self.title, self.detail, self.advice),
        }
    }
}

impl IntoResponse for PanelError {
    fn into_response(self) -> Response {
        let shown = ErrorPage {
            frame: self.frame.map_or_else(|| Frame::bare(self.lang), |frame| *frame),
            t: ErrorWords::of(self.lang),
            title: self.title,
            advice: self.advice,
            detail: self.detail,
            way_on: self.way_on,
        };
        (self.status, page(&shown)).into_response()
    }
}

fn is_browser(headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT);
    accepts.is_some_and(|kinds| kinds.to_str().is_ok_and(|kinds| kinds.contains("text/html")))
}

/// Whoever looks at an address that only takes forms is told so on a page; programs get the usual body.
pub async fn not_a_page(request: Request, next: Next) -> Response {
    let lang = is_browser(request.headers()).then(|| Lang::of(request.headers()));
    let mut response = next.run(request).await;
    let (Some(lang), StatusCode::METHOD_NOT_ALLOWED) = (lang, response.status()) else {
        return response;
    };
    let error = ApiError::from_status(StatusCode::METHOD_NOT_ALLOWED);
    let mut shown = PanelError::of(lang, error).into_response();
    if let Some(methods) = response.headers_mut().remove(header::ALLOW) {
        shown.headers_mut().insert(header::ALLOW, methods);
    }
    shown
}

/// Nothing is there: a page for people, the usual body for programs.
pub async fn not_found(request: Request) -> Response {
    let error = ApiError::from_status(StatusCode::NOT_FOUND);
    let path = request.uri().path();
    let is_for_programs = [crate::api::PREFIX, "/hooks"]
        .iter()
        .any(|prefix| path.starts_with(prefix));
    if is_for_programs || !is_browser(request.headers()) {
        return error.into_response();
    }
    let error = PanelError::of(Lang::of(request.headers()), error);
    crate::panel::kit::security_headers::protected(
        crate::panel::kit::security_headers::is_secure(request.headers()),
        error.into_response(),
    )
}
