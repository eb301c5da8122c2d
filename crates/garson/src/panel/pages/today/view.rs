//! The parts of the page, formatted.

use crate::flow::read::day_summary::DaySummary;
use crate::panel::components::chart::{Bar, Chart};
use crate::panel::components::report_filter::RestaurantNames;
use crate::panel::kit::{format, names};
use crate::panel::words::{Lang, OrderWords, TodayWords};
use garson_core::money::{Currency, Minor};
use garson_core::order::Actor;
use garson_core::platform::Provider;
use garson_store::totals::stats::{CancelKey, Stats, Tally, Times};
use std::collections::{BTreeMap, BTreeSet};

/// The most rows of a table.
const MAX_ROWS: usize = 50;

/// A number with a name, and lines below it.
pub struct Figure {
    pub id: String,
    pub name: &'static str,
    pub value: String,
    pub lines: Vec<FigureLine>,
}

pub struct FigureLine {
    /// The CSS class.
    pub tone: &'static str,
    pub text: String,
}

pub struct PlatformKey {
    pub class: &'static str,
    pub name: String,
}

pub struct HourRow {
    pub hour: String,
    pub count: i64,
    /// In the order of the platforms.
    pub amounts: Vec<Option<String>>,
    pub total: String,
}

/// The hours in one currency.
pub struct HourSection {
    pub currency: Currency,
    pub chart: Chart,
    pub platforms: Vec<PlatformKey>,
    pub rows: Vec<HourRow>,
}

pub struct SummaryRow {
    pub name: String,
    pub count: i64,
    pub total: String,
    /// The share of its currency's total, in percent.
    pub share: i64,
}

pub struct SummaryTable {
    pub id: &'static str,
    pub title: &'static str,
    pub name: &'static str,
    pub rows: Vec<SummaryRow>,
}

pub struct CancelRow {
    pub reason: String,
    pub who: String,
    pub platform: String,
    pub count: i64,
    pub total: String,
}

/// The sales by a part of their key.
pub fn by<K: Ord>(
    stats: &Stats,
    key: impl Fn(&(Provider, garson_core::payment::PaymentType, Currency)) -> K,
) -> BTreeMap<K, Tally> {
    let mut found: BTreeMap<K, Tally> = BTreeMap::new();
    for (of, (count, amount)) in &stats.sales {
        let tally = found.entry(key(of)).or_default();
        tally.0 += count;
        tally.1 += amount;
    }
    found
}

fn count(stats: &Stats) -> i64 {
    stats.sales.values().map(|(count, _)| count).sum()
}

fn cancelled(stats: &Stats) -> i64 {
    stats.cancels.values().map(|(count, _)| count).sum()
}

pub fn figures(lang: Lang, summary: &DaySummary) -> Vec<Figure> {
    let t = TodayWords::of(lang);
    let stats = &summary.stats;
    let orders = count(stats);
    let mut figures = vec![Figure {
        id: "orders".to_owned(),
        name: t.orders,
        value: orders.to_string(),
        lines: comparisons(&t, summary, count),
    }];
    for (currency, (number, amount)) in by(stats, |key| key.2) {
        let money = |amount| format::money(lang, Minor(amount), currency);
        let sales = move |stats: &Stats| by(stats, |key| key.2).get(&currency).map_or(0, |it| it.1);
        figures.push(Figure {
            id: format!("sales-{currency}"),
            name: t.sales,
            value: money(amount),
            lines: comparisons(&t, summary, sales),
        });
        figures.push(Figure {
            id: format!("average-{currency}"),
            name: t.average_order,
            value: money(amount / number.max(1)),
            lines: Vec::new(),
        });
    }
    let gone = cancelled(stats);
    figures.push(Figure {
        id: "cancelled".to_owned(),
        name: t.cancelled,
        value: gone.to_string(),
        lines: vec![plain(format!("%{} {}", percent(gone, orders + gone), t.of_all))],
    });
    figures.push(time_figure(&t, "accept", t.accept_time, &stats.accept));
    figures.push(time_figure(&t, "prepare", t.prepare_time, &stats.prepare));
    figures
}

fn plain(text: String) -> FigureLine {
    FigureLine { tone: "muted", text }
}

fn time_figure(t: &TodayWords, id: &str, name: &'static str, times: &Times) -> Figure {
    let (value, lines) = match (times.average(), times.median()) {
        (Some(average), Some(median)) => {
            let line = format!("{} {} ({})", t.median, duration(t, median), times.count());
            (duration(t, average), vec![plain(line)])
        }
        _ => ("–".to_owned(), vec![plain(t.not_measured.to_owned())]),
    };
    Figure {
        id: id.to_owned(),
        name,
        value,
        lines,
    }
}

/// `45 sn`, `3 dk 20 sn`, `1 sa 5 dk`.
fn duration(t: &TodayWords, millis: i64) -> String {
    let seconds = (millis + 500) / 1000;
    match seconds {
        ..60 => format!("{seconds} {}", t.second),
        60..3600 => format!("{} {} {} {}", seconds / 60, t.minute, seconds % 60, t.second),
        _ => format!(
            "{} {} {} {}",
            seconds / 3600,
            t.hour_short,
            seconds % 3600 / 60,
            t.minute
        ),
    }
}

/// How much more or less than on the day before, and than on the same weekday of the week before. A day without orders is not
/// compared with.
fn comparisons(t: &TodayWords, summary: &DaySummary, value: impl Fn(&Stats) -> i64) -> Vec<FigureLine> {
    let now = value(&summary.comparable);
    let (day, week) = if summary.is_today {
        (t.day_before_so_far, t.week_before_so_far)
    } else {
        (t.day_before, t.week_before)
    };
    let line = |other: &Stats, than: &str| {
        let before = value(other);
        (before > 0).then(|| {
            let change = i128::from(now - before) * 100 / i128::from(before);
            let (tone, text) = match change {
                0 => ("muted", t.same.to_owned()),
                1.. => ("up", format!("+%{change}")),
                _ => ("down", format!("−%{}", -change)),
            };
            FigureLine {
                tone,
                text: format!("{text} {than}"),
            }
        })
    };
    [(&summary.day_before, day), (&summary.week_before, week)]
        .into_iter()
        .filter_map(|(other, than)| line(other, than))
        .collect()
}

fn percent(part: i64, whole: i64) -> i64 {
    let rounded = (i128::from(part) * 200 + i128::from(whole.max(1))) / (2 * i128::from(whole.max(1)));
    i64::try_from(rounded).unwrap_or_default()
}

/// The CSS class of a platform's bars.
fn class(provider: Provider) -> &'static str {
    match provider.as_str() {
        "getir" => "q-getir",
        "yemeksepeti" => "q-yemeksepeti",
        "trendyol" => "q-trendyol",
        "migros" => "q-migros",
        "direct" => "q-direct",
        _ => "q-other",
    }
}

pub fn hours(lang: Lang, summary: &DaySummary) -> Vec<HourSection> {
    let currencies: BTreeSet<Currency> = summary.stats.sales.keys().map(|key| key.2).collect();
    currencies
        .into_iter()
        .map(|currency| hour_section(lang, summary, currency))
        .collect()
}

fn hour_section(lang: Lang, summary: &DaySummary, currency: Currency) -> HourSection {
    let money = |amount| format::money(lang, Minor(amount), currency);
    let of_currency = summary.stats.sales.keys().filter(|key| key.2 == currency);
    let platforms: Vec<Provider> = of_currency
        .map(|key| key.0)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let (mut bars, mut rows) = (Vec::new(), Vec::new());
    for (start, stats) in &summary.hours {
        let hour = format::time_of_day(&summary.zone, *start);
        let tallies = by(stats, |key| (key.0, key.2));
        let of = |platform: Provider| tallies.get(&(platform, currency)).copied();
        let parts = platforms.iter().filter_map(|platform| {
            let (count, amount) = of(*platform)?;
            let name = format::provider(lang, *platform);
            Some((
                class(*platform),
                amount,
                format!("{hour} {name}: {} ({count})", money(amount)),
            ))
        });
        bars.push(Bar {
            name: hour.clone(),
            parts: parts.collect(),
        });
        let all: Vec<Option<Tally>> = platforms.iter().map(|platform| of(*platform)).collect();
        let (count, amount) = all
            .iter()
            .flatten()
            .fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        if count > 0 {
            rows.push(HourRow {
                hour,
                count,
                amounts: all
                    .into_iter()
                    .map(|it| it.map(|(_, amount)| money(amount)))
                    .collect(),
                total: money(amount),
            });
        }
    }
    HourSection {
        currency,
        chart: Chart::draw(bars, |amount| format::without_decimals(&money(amount))),
        platforms: platforms
            .into_iter()
            .map(|platform| PlatformKey {
                class: class(platform),
                name: format::provider(lang, platform),
            })
            .collect(),
        rows,
    }
}

pub fn tables(lang: Lang, summary: &DaySummary, restaurants: &RestaurantNames) -> Vec<SummaryTable> {
    let t = TodayWords::of(lang);
    let stats = &summary.stats;
    let totals = by(stats, |key| key.2);
    let row = |(name, currency, (count, amount)): (String, Currency, Tally)| SummaryRow {
        name,
        count,
        total: format::money(lang, Minor(amount), currency),
        share: percent(amount, totals.get(&currency).map_or(0, |it| it.1)),
    };
    let table = |id, title, name, mut rows: Vec<(String, Currency, Tally)>| {
        rows.sort_by_key(|(_, _, (_, amount))| -amount);
        rows.truncate(MAX_ROWS);
        SummaryTable {
            id,
            title,
            name,
            rows: rows.into_iter().map(row).collect(),
        }
    };
    let platforms = by(stats, |key| (key.0, key.2))
        .into_iter()
        .map(|((platform, currency), tally)| (format::provider(lang, platform), currency, tally));
    let payments = by(stats, |key| (key.1, key.2))
        .into_iter()
        .map(|((kind, currency), tally)| (names::payment(lang, kind).to_owned(), currency, tally));
    let mut tables = vec![
        table("platforms", t.by_platform, t.platform, platforms.collect()),
        table("payments", t.by_payment, t.payment, payments.collect()),
    ];
    if restaurants.len() > 1 && !summary.restaurants.is_empty() {
        let rows = summary.restaurants.iter().map(|((id, currency), tally)| {
            (
                restaurants.get(id).cloned().unwrap_or_default(),
                *currency,
                *tally,
            )
        });
        tables.push(table(
            "restaurants",
            t.by_restaurant,
            t.restaurant,
            rows.collect(),
        ));
    }
    tables
}

pub fn cancellations(lang: Lang, summary: &DaySummary) -> Vec<CancelRow> {
    let mut found: Vec<_> = summary.stats.cancels.iter().collect();
    found.sort_by_key(|(_, (count, _))| -count);
    found.truncate(MAX_ROWS);
    found
        .into_iter()
        .map(|(key, (count, amount))| {
            let (reason, who, platform) = cancel_names(lang, key);
            CancelRow {
                reason,
                who,
                platform,
                count: *count,
                total: format::money(lang, Minor(*amount), key.currency),
            }
        })
        .collect()
}

/// The reason of a cancellation, who cancelled, and the platform.
pub fn cancel_names(lang: Lang, key: &CancelKey) -> (String, String, String) {
    let reason = if key.reason.is_empty() {
        TodayWords::of(lang).no_reason.to_owned()
    } else {
        names::reason(lang, &key.reason)
    };
    let words = OrderWords::of(lang);
    let who = Actor::named(&key.by).map_or_else(String::new, |by| names::actor(&words, by).to_owned());
    (reason, who, format::provider(lang, key.provider))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        let t = TodayWords::of(Lang::Tr);
        assert_eq!(duration(&t, 45_400), "45 sn");
        assert_eq!(duration(&t, 200_000), "3 dk 20 sn");
        assert_eq!(duration(&t, 3_900_000), "1 sa 5 dk");
    }

    #[test]
    fn shares_are_rounded() {
        assert_eq!((percent(1, 3), percent(2, 3), percent(0, 0)), (33, 67, 0));
    }
}
