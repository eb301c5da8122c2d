//! What is written from the code, as Markdown: platforms from their capabilities, error codes, settings, reasons of undelivered
//! events. It replaces one line of its page, so that the page cannot go out of date.

use super::contents::Page;
use super::delivery_advice;
use super::error_advice::{Advice, advice};
use super::settings_list;
use crate::flow::platform_names::platform_name;
use crate::http::error::Code;
use crate::panel::words::{BookWords, Lang};
use garson_core::channel::Language;
use garson_core::delivery::UndeliveredReason;
use garson_core::order::Courier;
use garson_core::platform::{Capability, CredentialField, Limit, Platform, PollStyle, Polling, StoreSupport};
use garson_core::price_change::PriceScope;
use std::borrow::Cow;
use std::fmt::Write;

/// The line that is replaced.
const PLACE: &str = "<!-- generated -->";

/// The Markdown of a page with its generated part.
pub fn text(page: &Page, lang: Lang) -> Cow<'static, str> {
    let source = page.source(lang);
    let generated = match page.name {
        "platforms" => platforms(lang),
        "errors" => errors(lang),
        "settings" => settings_list::text(lang),
        "troubleshoot" => undelivered_reasons(lang),
        _ => return Cow::Borrowed(source),
    };
    Cow::Owned(source.replace(PLACE, &generated))
}

/// A cell of a table: a bar would end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn errors(lang: Lang) -> String {
    let t = BookWords::of(lang);
    let mut text = String::new();
    let mut status = None;
    for code in Code::ALL {
        if status != Some(code.status()) {
            status = Some(code.status());
            let name = code.status();
            let _ = write!(
                text,
                "\n## {name}\n\n| {} | {} | {} |\n|---|---|---|\n",
                t.code, t.meaning, t.what_to_do
            );
        }
        write_advice(&mut text, code.as_str(), advice(*code, lang));
    }
    text
}

fn undelivered_reasons(lang: Lang) -> String {
    let t = BookWords::of(lang);
    let mut text = format!(
        "| {} | {} | {} |\n|---|---|---|\n",
        t.reason, t.meaning, t.what_to_do
    );
    for reason in UndeliveredReason::ALL {
        let advice = delivery_advice::advice(*reason, lang);
        write_advice(&mut text, reason.as_str(), advice);
    }
    text
}

/// A row of a table: a name, what it means and what to do.
fn write_advice(text: &mut String, name: &str, advice: Advice) {
    let _ = writeln!(
        text,
        "| `{name}` | {} | {} |",
        cell(advice.meaning),
        cell(advice.what_to_do)
    );
}

fn platforms(lang: Lang) -> String {
    let mut text = String::new();
    for platform in garson_platforms::all() {
        let name = name_of(*platform, lang);
        let _ = write!(text, "\n## {name}\n\n");
        properties(&mut text, *platform, lang);
        credentials(&mut text, *platform, lang);
    }
    text
}

fn name_of(platform: &dyn Platform, lang: Lang) -> String {
    let language = match lang {
        Lang::Tr => Language::Tr,
        Lang::En => Language::En,
    };
    let provider = platform.provider();
    platform_name(provider.as_str(), language).to_owned()
}

fn properties(text: &mut String, platform: &dyn Platform, lang: Lang) {
    let t = BookWords::of(lang);
    let can = platform.capability();
    let key = platform.provider();
    let paths: Vec<String> = platform
        .hooks()
        .iter()
        .map(|hook| format!("`{} /hooks/{}{}`", hook.method, key.as_str(), hook.path))
        .collect();
    let rows = [
        (t.key, format!("`{}`", key.as_str())),
        (t.agrees, yes(&t, can.asks)),
        (t.accept_within, accept_within(&t, can)),
        (t.between_moves, between_moves(&t, can)),
        (t.cancel_later, yes(&t, can.cancel_after_accept)),
        (t.reasons, reasons(&t, can)),
        (t.couriers, couriers(&t, can)),
        (t.polling, polling(&t, can.polling)),
        (t.reads_orders, yes(&t, can.look)),
        (t.own_ids, yes(&t, can.own_ids)),
        (t.menu, yes(&t, can.menu)),
        (t.store, store(&t, can.store)),
        (t.busy, busy(&t, can.store)),
        (t.hours, hours(&t, can)),
        (t.items, items(&t, can)),
        (t.prices, prices(&t, can)),
        (t.catalog, yes(&t, can.catalog_push.is_some())),
        (t.limits, limits(&t, can.limits)),
        (t.addresses, or_none(&t, paths.join(", "))),
    ];
    let _ = write!(text, "| {} | {} |\n|---|---|\n", t.property, t.value);
    for (name, value) in rows {
        let _ = writeln!(text, "| {name} | {} |", cell(&value));
    }
}

fn credentials(text: &mut String, platform: &dyn Platform, lang: Lang) {
    let t = BookWords::of(lang);
    let name = name_of(platform, lang);
    let _ = write!(text, "\n### {}: {name}\n\n", t.credentials);
    let _ = write!(
        text,
        "| {} | {} | {} |\n|---|---|---|\n",
        t.credential, t.credential_name, t.need
    );
    for field in platform.credential_fields() {
        let CredentialField {
            name,
            required,
            label: (turkish, english),
            ..
        } = *field;
        let label = match lang {
            Lang::Tr => turkish,
            Lang::En => english,
        };
        let need = if required { t.required } else { t.optional };
        let _ = writeln!(text, "| `{name}` | {} | {need} |", cell(label));
    }
}

fn yes(t: &BookWords, is: bool) -> String {
    if is { t.yes } else { t.no }.to_owned()
}

fn or_none(t: &BookWords, text: String) -> String {
    if text.is_empty() { t.none.to_owned() } else { text }
}

fn accept_within(t: &BookWords, can: &Capability) -> String {
    match can.accept_within_seconds {
        Some(seconds) => format!("{seconds} {}", t.seconds),
        None => t.not_fixed.to_owned(),
    }
}

fn between_moves(t: &BookWords, can: &Capability) -> String {
    match can.seconds_between_moves {
        0 => t.none.to_owned(),
        seconds => format!("{seconds} {}", t.seconds),
    }
}

fn reasons(t: &BookWords, can: &Capability) -> String {
    if can.live_reasons {
        t.reasons_asked
    } else {
        t.reasons_fixed
    }
    .to_owned()
}

fn couriers(t: &BookWords, can: &Capability) -> String {
    let names: Vec<&str> = can
        .couriers
        .iter()
        .map(|courier| match courier {
            Courier::Platform => t.courier_platform,
            Courier::Restaurant => t.courier_restaurant,
            Courier::None => t.courier_none,
        })
        .collect();
    names.join(", ")
}

fn polling(t: &BookWords, polling: Option<Polling>) -> String {
    let Some(Polling { style, every_seconds }) = polling else {
        return t.no.to_owned();
    };
    let style = match style {
        PollStyle::Changes => t.polling_changes,
        PollStyle::Open => t.polling_open,
        PollStyle::Cancelled => t.polling_cancelled,
    };
    format!("{style}, {} {every_seconds} {}", t.every, t.seconds)
}

fn numbers(numbers: &[u32]) -> String {
    let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

fn store(t: &BookWords, store: Option<StoreSupport>) -> String {
    let Some(store) = store else {
        return t.no.to_owned();
    };
    let minutes = store.durations.minutes();
    let mut text = t.yes.to_owned();
    if !minutes.is_empty() {
        let _ = write!(text, "; {}: {} {}", t.store_timers, numbers(minutes), t.minutes);
    }
    if store.until_next_opening {
        let _ = write!(text, "; {}", t.until_opening);
    }
    text
}

fn busy(t: &BookWords, store: Option<StoreSupport>) -> String {
    match store.map(|store| store.busy_minutes) {
        Some(minutes) if !minutes.is_empty() => format!("+{} {}", numbers(minutes), t.minutes),
        _ => t.no.to_owned(),
    }
}

fn hours(t: &BookWords, can: &Capability) -> String {
    match can.hours {
        Some(hours) => format!("{}; {}: {}", t.yes, t.spans, hours.shape.spans_per_day),
        None => t.no.to_owned(),
    }
}

/// Whether options can be changed too, and how many in one request.
fn amount(t: &BookWords, options: bool, per_call: usize) -> String {
    let mut text = String::new();
    if options {
        let _ = write!(text, "; {}", t.options_too);
    }
    let _ = write!(text, "; {}: {per_call}", t.per_call);
    text
}

fn items(t: &BookWords, can: &Capability) -> String {
    match can.items {
        Some(items) => format!("{}{}", t.yes, amount(t, items.options, items.per_call)),
        None => t.no.to_owned(),
    }
}

fn prices(t: &BookWords, can: &Capability) -> String {
    let Some(prices) = can.prices else {
        return t.no.to_owned();
    };
    let scope = match prices.scope {
        PriceScope::Branch => t.of_branch,
        PriceScope::Chain => t.of_chain,
    };
    format!("{scope}{}", amount(t, prices.options, prices.per_call))
}

fn limits(t: &BookWords, limits: &[Limit]) -> String {
    let texts: Vec<String> = limits
        .iter()
        .map(|limit| {
            format!(
                "`{}`: {} {} {} {}",
                limit.name, limit.requests, t.in_seconds, limit.per_seconds, t.seconds
            )
        })
        .collect();
    or_none(t, texts.join("; "))
}
