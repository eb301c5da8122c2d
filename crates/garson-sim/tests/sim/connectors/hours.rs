//! Opening hours on platforms.

use super::{Connection, connect, is_unsupported};
use garson_core::opening_hours::{Span, TimeOfDay, Week, Weekday};
use garson_core::platform::PlatformError;
use garson_sim::Platform;

fn span(opens: &str, closes: &str) -> Span {
    Span::new(opens.parse().unwrap(), closes.parse().unwrap())
}

async fn write(connection: &Connection, week: &Week) -> Result<(), PlatformError> {
    connection
        .run(|link, answers| connection.platform.write_hours(week, link, answers))
        .await
}

async fn read(connection: &Connection) -> Result<Week, PlatformError> {
    connection
        .run(|link, answers| connection.platform.read_hours(link, answers))
        .await
}

#[tokio::test]
async fn hours_are_read_back_as_they_were_written() {
    let weeks = [
        Week::daily(span("10:00", "22:00")),
        // Past midnight, a day off, and a day without an end.
        Week::new([
            (Weekday::Monday, span("18:00", "02:00")),
            (Weekday::Wednesday, Span::ALL_DAY),
            (Weekday::Saturday, span("12:00", "24:00")),
            (Weekday::Sunday, span("09:30", "15:45")),
        ]),
        Week::default(),
    ];
    for platform in [Platform::Getir, Platform::Trendyol, Platform::Migros] {
        let connection = connect(platform).await;
        for week in &weeks {
            write(&connection, week).await.unwrap();
            let shown = read(&connection).await.unwrap();
            assert_eq!(week.differences(&shown), [], "{platform}");
        }
    }
}

#[tokio::test]
async fn difference_to_the_platforms_hours_is_told_by_day() {
    let connection = connect(Platform::Migros).await;
    let ours = Week::new(Weekday::ALL.map(|day| {
        let closes = if day == Weekday::Friday { "23:30" } else { "23:00" };
        (day, span("10:00", closes))
    }));
    let differences = ours.differences(&read(&connection).await.unwrap());
    let [only] = differences.as_slice() else {
        panic!("{differences:?}");
    };
    assert_eq!(only.day, Weekday::Friday);
    assert_eq!(only.theirs, [span("10:00", "23:00")]);
}

#[tokio::test]
async fn two_spans_a_day_are_written_only_where_they_fit() {
    let week = Week::new([
        (Weekday::Monday, span("11:00", "14:00")),
        (Weekday::Monday, span("17:00", "23:00")),
    ]);
    let connection = connect(Platform::Trendyol).await;
    write(&connection, &week).await.unwrap();
    assert_eq!(week.differences(&read(&connection).await.unwrap()), []);
    for platform in [Platform::Getir, Platform::Migros] {
        let connection = connect(platform).await;
        assert!(is_unsupported(&write(&connection, &week).await), "{platform}");
    }
}

#[tokio::test]
async fn platform_without_hours_says_so() {
    let connection = connect(Platform::Yemeksepeti).await;
    assert!(connection.platform.capability().hours.is_none());
    assert!(is_unsupported(&read(&connection).await));
    assert!(is_unsupported(&write(&connection, &Week::default()).await));
}

#[tokio::test]
async fn first_day_of_getirs_week_is_a_setting() {
    let mut connection = connect(Platform::Getir).await;
    let week = Week::new([(Weekday::Tuesday, span("10:00", "20:00"))]);
    write(&connection, &week).await.unwrap();
    connection.set("dayZero", "monday");
    let shown = read(&connection).await.unwrap();
    assert_eq!(
        shown.day(Weekday::Wednesday),
        [Span::new(
            TimeOfDay::parse("10:00").unwrap(),
            TimeOfDay::parse("20:00").unwrap(),
        )]
    );
}
