//! Formats money, timestamps and platform names in Turkish and English.

use crate::flow::platform_names::platform_name;
use crate::panel::words::Lang;
use garson_core::channel::Language;
use garson_core::money::{Currency, Minor};
use garson_core::order::OrderContent;
use garson_core::platform::Provider;
use garson_core::time::{Timestamp, Zone};
use garson_ticket::amount;

/// `1.234,50 ₺` or `₺1,234.50`.
pub fn money(lang: Lang, amount: Minor, currency: Currency) -> String {
    amount::amount(lang.of_ticket(), amount, currency)
}

/// The same, without the decimals of a whole amount: `440 ₺`.
pub fn short_money(lang: Lang, amount: Minor, currency: Currency) -> String {
    amount::short_amount(lang.of_ticket(), amount, currency)
}

/// `21:45`, with the day if that is not the day of `now`.
pub fn time_or_timestamp(lang: Lang, zone: &Zone, at: Timestamp, now: Timestamp) -> String {
    if day(lang, zone, at) == day(lang, zone, now) {
        time_of_day(zone, at)
    } else {
        timestamp(lang, zone, at)
    }
}

/// `15.11.2026 12:34` or `15 Nov 2026, 12:34`.
pub fn timestamp(lang: Lang, zone: &Zone, at: Timestamp) -> String {
    let form = match lang {
        Lang::Tr => "%d.%m.%Y %H:%M",
        Lang::En => "%d %b %Y, %H:%M",
    };
    zone.write(at, form)
}

pub fn timestamp_with_seconds(lang: Lang, zone: &Zone, at: Timestamp) -> String {
    format!("{}{}", timestamp(lang, zone, at), zone.write(at, ":%S"))
}

/// `15.11.2026` or `15 Nov 2026`.
pub fn day(lang: Lang, zone: &Zone, at: Timestamp) -> String {
    let form = match lang {
        Lang::Tr => "%d.%m.%Y",
        Lang::En => "%d %b %Y",
    };
    zone.write(at, form)
}

/// The name of a platform.
pub fn provider(lang: Lang, provider: Provider) -> String {
    let language = match lang {
        Lang::Tr => Language::Tr,
        Lang::En => Language::En,
    };
    platform_name(provider.as_str(), language).to_owned()
}

/// The name of the platform of an order, with the app in which the customer ordered where that is another brand.
pub fn order_source(lang: Lang, from: Provider, content: &OrderContent) -> String {
    let platform = provider(lang, from);
    match &content.storefront {
        Some(storefront) => format!("{platform} · {storefront}"),
        None => platform,
    }
}

/// Removes `,00` or `.00`: grid lines of charts are at round amounts. The last separator is the decimal one.
pub fn without_decimals(money: &str) -> String {
    let Some(at) = money.rfind(",00").max(money.rfind(".00")) else {
        return money.to_owned();
    };
    let (before, after) = (&money[..at], &money[at + 3..]);
    if after.starts_with(|c: char| c.is_ascii_digit()) {
        money.to_owned()
    } else {
        format!("{before}{after}")
    }
}

/// `14:05`
pub fn time_of_day(zone: &Zone, at: Timestamp) -> String {
    zone.write(at, "%H:%M")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn money_has_separators_of_the_language() {
        let lira = |lang, minor| money(lang, Minor(minor), Currency::TRY);
        assert_eq!(lira(Lang::Tr, 123_450), "1.234,50 ₺");
        assert_eq!(lira(Lang::En, 123_450), "₺1,234.50");
        assert_eq!(lira(Lang::Tr, 5), "0,05 ₺");
        assert_eq!(lira(Lang::Tr, -100_000_000), "-1.000.000,00 ₺");
        assert_eq!(lira(Lang::Tr, 99_999), "999,99 ₺");
    }

    #[test]
    fn whole_amounts_can_be_short() {
        let lira = |lang, minor| short_money(lang, Minor(minor), Currency::TRY);
        assert_eq!(lira(Lang::Tr, 44_000), "440 ₺");
        assert_eq!(lira(Lang::Tr, 44_050), "440,50 ₺");
        assert_eq!(lira(Lang::Tr, 100_000_000), "1.000.000 ₺");
        assert_eq!(lira(Lang::En, 123_400), "₺1,234");
        assert_eq!(lira(Lang::En, 5), "₺0.05");
    }

    #[test]
    fn day_is_shown_unless_it_is_today() {
        let (zone, now) = (Zone::istanbul(), Timestamp::from_millis(1_767_225_600_000));
        let text = |at| time_or_timestamp(Lang::Tr, &zone, at, now);
        assert_eq!(text(now.plus(Duration::from_secs(60))), "03:01");
        assert_eq!(text(now.plus(Duration::from_secs(86_400))), "02.01.2026 03:00");
    }

    #[test]
    fn timestamps_are_in_the_zone() {
        let at = Timestamp::from_millis(1_767_225_600_000);
        let zone = Zone::istanbul();
        assert_eq!(timestamp(Lang::Tr, &zone, at), "01.01.2026 03:00");
        assert_eq!(timestamp(Lang::En, &zone, at), "01 Jan 2026, 03:00");
        let second = |lang| timestamp_with_seconds(lang, &zone, at.plus(Duration::from_secs(7)));
        assert_eq!(second(Lang::Tr), "01.01.2026 03:00:07");
        assert_eq!(second(Lang::En), "01 Jan 2026, 03:00:07");
        assert_eq!(day(Lang::Tr, &zone, at), "01.01.2026");
        assert_eq!(time_of_day(&zone, at), "03:00");
    }

    #[test]
    fn round_amounts_lose_their_decimals() {
        assert_eq!(without_decimals("1.000,00 ₺"), "1.000 ₺");
        assert_eq!(without_decimals("₺2,000.00"), "₺2,000");
        assert_eq!(without_decimals("0,00 ₺"), "0 ₺");
        assert_eq!(without_decimals("500,00 EUR"), "500 EUR");
        assert_eq!(without_decimals("1.000.000,00 ₺"), "1.000.000 ₺");
        assert_eq!(without_decimals("1.000,50 ₺"), "1.000,50 ₺");
    }
}
