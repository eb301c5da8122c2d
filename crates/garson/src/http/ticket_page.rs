//! The response with a ticket in the format that was asked for; the API and the panel share it.

use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use garson_ticket::code_page::CodePage;
use garson_ticket::render::html::Surroundings;
use garson_ticket::render::{escpos, html, text};
use garson_ticket::{Copy, Kind, Lang, Options, Ticket, Width};
use http::{HeaderValue, header};
use sha2::{Digest, Sha256};

/// In which format a ticket is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Html,
    Text,
    EscPos(CodePage),
}

/// A parameter that has no meaning: its name, and what it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongParameter {
    pub name: &'static str,
    pub message: &'static str,
}

fn wrong<T>(name: &'static str, message: &'static str) -> Result<T, WrongParameter> {
    Err(WrongParameter { name, message })
}

/// Reads the parameters of a ticket; those that are missing or empty have a default.
pub fn parse<'a>(
    lang: Lang,
    get: impl Fn(&'static str) -> Option<&'a str>,
) -> Result<(Options, Format), WrongParameter> {
    let given = |name| get(name).filter(|value| !value.is_empty());
    let kind = match given("kind") {
        None => Kind::Kitchen,
        Some(word) => match Kind::named(word) {
            Some(kind) => kind,
            None => return wrong("kind", "must be kitchen, courier or customer"),
        },
    };
    let width = match given("width") {
        None => Width::Mm80,
        Some(word) => match Width::named(word) {
            Some(width) => width,
            None => return wrong("width", "must be 58, 80 or a4"),
        },
    };
    let lang = match given("lang") {
        None => lang,
        Some(word) => match Lang::named(word) {
            Some(lang) => lang,
            None => return wrong("lang", "must be tr or en"),
        },
    };
    let copy = match given("copy") {
        None => None,
        Some(word) => match Copy::named(word) {
            Some(copy) => Some(copy),
            None => return wrong("copy", "must be requested or uncertain"),
        },
    };
    let page = match given("codepage") {
        None => CodePage::default(),
        Some(text) => match CodePage::parse(text) {
            Some(page) => page,
            None => {
                return wrong(
                    "codepage",
                    "must be pc857, wpc1254 or ascii, with the printer's own number behind a colon if it differs",
                );
            }
        },
    };
    let format = match given("format") {
        None | Some("html") => Format::Html,
        Some("text") => Format::Text,
        Some("escpos") if width == Width::A4 => return wrong("width", "must be 58 or 80 for escpos"),
        Some("escpos") => Format::EscPos(page),
        Some(_) => return wrong("format", "must be html, text or escpos"),
    };
    let options = Options {
        kind,
        width,
        lang,
        copy,
    };
    Ok((options, format))
}

/// The response with a ticket. HTML carries its style, which the policy allows by its hash; frames of our own pages may show it,
/// to print it.
pub fn respond(ticket: &Ticket, format: Format, around: &Surroundings<'_>) -> Response {
    let response = match format {
        Format::Html => {
            let page = html::render(ticket, around);
            let hash = STANDARD.encode(Sha256::digest(page.style.as_bytes()));
            let policy = format!(
                "default-src 'none'; style-src 'sha256-{hash}'; script-src 'self'; img-src data:; form-action 'none'; \
                 frame-ancestors 'self'; base-uri 'none'"
            );
            let mut response = page.html.into_response();
            let headers = response.headers_mut();
            headers.insert(
                header::CONTENT_TYPE,
                HeaderValue::from_static("text/html; charset=utf-8"),
            );
            if let Ok(policy) = HeaderValue::from_str(&policy) {
                headers.insert(header::CONTENT_SECURITY_POLICY, policy);
            }
            headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
            response
        }
        Format::Text => (
            [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
            text::render(ticket),
        )
            .into_response(),
        Format::EscPos(page) => (
            [(header::CONTENT_TYPE, "application/octet-stream")],
            escpos::render(ticket, page),
        )
            .into_response(),
    };
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, response).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &'static str) -> Result<(Options, Format), WrongParameter> {
        parse(Lang::Tr, |name| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs
                .into_iter()
                .find(|(n, _)| *n == name)
                .map(|(_, value)| value)
        })
    }

    #[test]
    fn parameters_have_defaults() {
        let (options, format) = read("").unwrap();
        assert_eq!((options.kind, options.width), (Kind::Kitchen, Width::Mm80));
        assert_eq!(
            (options.lang, options.copy, format),
            (Lang::Tr, None, Format::Html)
        );
    }

    #[test]
    fn wrong_values_are_named() {
        for (query, name) in [
            ("kind=chef", "kind"),
            ("width=90", "width"),
            ("lang=de", "lang"),
            ("copy=yes", "copy"),
            ("codepage=utf8", "codepage"),
            ("format=pdf", "format"),
            ("format=escpos&width=a4", "width"),
        ] {
            assert_eq!(read(query).unwrap_err().name, name, "{query}");
        }
    }
}
