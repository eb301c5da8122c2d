//! Opening and closing stores.

use super::{Connection, connect, connect_with, is_unsupported, now, refusal};
use crate::support::quick;
use garson_core::explanation::PlatformTask;
use garson_core::platform::{CallError, PlatformError};
use garson_core::store_status::{
    ClosingEnd, ReasonCode, Reopening, StoreActor, StoreChange, StoreChanged, StoreReading, StoreState,
    StoreTarget,
};
use garson_sim::views::{ClosedBy, ShopRequest};
use garson_sim::{Platform, SimSettings};
use std::time::Duration;

fn change(to: StoreTarget) -> StoreChange {
    StoreChange {
        to,
        from: StoreState::Unknown,
        busy_is_set: false,
        now: now(),
    }
}

fn closed(end: ClosingEnd) -> StoreTarget {
    StoreTarget::Closed {
        end,
        reason: Some(ReasonCode::KitchenBusy),
    }
}

fn for_minutes(minutes: u64) -> StoreTarget {
    closed(ClosingEnd::At(now().plus(Duration::from_secs(minutes * 60))))
}

/// Without rate limits, with sessions that last for days.
fn patient() -> SimSettings {
    SimSettings {
        rate_limits: false,
        getir_token_seconds: 1_000_000,
        yemeksepeti_token_seconds: 1_000_000,
        ..quick()
    }
}

async fn set(connection: &Connection, to: StoreTarget) -> Result<StoreChanged, PlatformError> {
    let change = change(to);
    connection
        .run(|link, answers| connection.platform.change_store(&change, link, answers))
        .await
}

async fn read(connection: &Connection) -> Result<StoreReading, PlatformError> {
    connection
        .run(|link, answers| connection.platform.read_store(link, answers))
        .await
}

async fn state(connection: &Connection) -> StoreState {
    read(connection).await.unwrap().state
}

async fn shop(connection: &Connection, request: ShopRequest) {
    let stage = &connection.stage;
    let changed = stage
        .control
        .change_shop(stage.platform, &stage.remote_id, &request);
    changed.await.unwrap();
}

#[tokio::test]
async fn store_that_is_closed_reads_closed_until_it_is_opened() {
    for platform in Platform::ALL {
        let connection = connect_with(platform, patient()).await;
        assert_eq!(state(&connection).await, StoreState::Open, "{platform}");
        let changed = set(&connection, closed(ClosingEnd::Never)).await.unwrap();
        assert_eq!(changed, StoreChanged::LASTING, "{platform}");
        assert_eq!(state(&connection).await, StoreState::Closed, "{platform}");
        connection.advance(48 * 3_600).await;
        assert_eq!(state(&connection).await, StoreState::Closed, "{platform}");
        set(&connection, StoreTarget::Open).await.unwrap();
        assert_eq!(state(&connection).await, StoreState::Open, "{platform}");
    }
}

#[tokio::test]
async fn opening_and_closing_twice_does_no_harm() {
    for platform in Platform::ALL {
        let connection = connect(platform).await;
        for to in [closed(ClosingEnd::Never), StoreTarget::Open] {
            set(&connection, to).await.unwrap();
            set(&connection, to).await.unwrap();
            assert_eq!(state(&connection).await, to.state(), "{platform}");
        }
    }
}

#[tokio::test]
async fn closing_of_a_length_that_the_platform_has_ends_by_itself() {
    for (platform, minutes) in [
        (Platform::Getir, 30),
        (Platform::Yemeksepeti, 30),
        (Platform::Migros, 60),
    ] {
        let connection = connect_with(platform, patient()).await;
        let changed = set(&connection, for_minutes(minutes)).await.unwrap();
        assert_eq!(changed.reopening, Reopening::Platform, "{platform}");
        assert!(changed.platform_until.is_some(), "{platform}");
        let reading = read(&connection).await.unwrap();
        assert_eq!(reading.state, StoreState::Closed, "{platform}");
        connection
            .advance(u32::try_from(minutes * 60).unwrap() - 60)
            .await;
        assert_eq!(state(&connection).await, StoreState::Closed, "{platform}");
        connection.advance(61).await;
        assert_eq!(state(&connection).await, StoreState::Open, "{platform}");
    }
}

#[tokio::test]
async fn closing_of_any_other_length_is_ours_to_end() {
    let connection = connect(Platform::Trendyol).await;
    let changed = set(&connection, for_minutes(30)).await.unwrap();
    assert_eq!(
        (changed.reopening, changed.platform_until),
        (Reopening::Ours, None)
    );

    // The platform's own timer is the safety net.
    let connection = connect(Platform::Getir).await;
    let changed = set(&connection, for_minutes(20)).await.unwrap();
    assert_eq!(changed.reopening, Reopening::Ours);
    let minutes = changed.platform_until.unwrap().since(now()).as_secs() / 60;
    assert!((28..=30).contains(&minutes), "{minutes}");
    let changed = set(&connection, for_minutes(90)).await.unwrap();
    assert_eq!(
        (changed.reopening, changed.platform_until),
        (Reopening::Ours, None)
    );

    let connection = connect(Platform::Migros).await;
    let changed = set(&connection, for_minutes(120)).await.unwrap();
    assert_eq!(changed.reopening, Reopening::Ours);
    assert!(changed.platform_until.is_some());
    let changed = set(&connection, for_minutes(600)).await.unwrap();
    assert_eq!(
        (changed.reopening, changed.platform_until),
        (Reopening::Ours, None)
    );
    set(&connection, StoreTarget::Open).await.unwrap();
    assert_eq!(
        state(&connection).await,
        StoreState::Open,
        "both closings are removed"
    );

    // Delivery Hero takes any time.
    let connection = connect(Platform::Yemeksepeti).await;
    let changed = set(&connection, for_minutes(75)).await.unwrap();
    assert_eq!(changed.reopening, Reopening::Platform);
    let until = read(&connection).await.unwrap().until.unwrap();
    assert!((74..=75).contains(&(until.since(now()).as_secs() / 60)));
}

#[tokio::test]
async fn closing_until_the_next_opening_uses_the_platforms_own() {
    let end = || {
        closed(ClosingEnd::NextOpening(Some(
            now().plus(Duration::from_secs(50_000)),
        )))
    };
    for (platform, reopening, word) in [
        (Platform::Yemeksepeti, Reopening::Platform, "CLOSED_TODAY"),
        (Platform::Migros, Reopening::Platform, "CLOSED"),
        (Platform::Getir, Reopening::Ours, "200"),
        (Platform::Trendyol, Reopening::Ours, "CLOSED"),
    ] {
        let connection = connect(platform).await;
        assert_eq!(
            set(&connection, end()).await.unwrap().reopening,
            reopening,
            "{platform}"
        );
        let reading = read(&connection).await.unwrap();
        assert_eq!(reading.word.as_deref(), Some(word), "{platform}");
    }
}

#[tokio::test]
async fn name_of_the_next_shift_is_a_setting() {
    let mut settings = quick();
    settings.migros_next_shift_option = "NEXT_WORK_HOUR".to_owned();
    let mut connection = connect_with(Platform::Migros, settings).await;
    let end = closed(ClosingEnd::NextOpening(None));
    assert!(refusal(set(&connection, end).await).contains("storeOffDateOption"));
    connection.set("nextShiftOption", "NEXT_WORK_HOUR");
    assert!(set(&connection, end).await.is_ok());
}

#[tokio::test]
async fn busy_mode_is_set_and_ended_where_there_is_one() {
    let connection = connect(Platform::Getir).await;
    let minutes = async || {
        let stage = &connection.stage;
        let shop = stage.control.shop(stage.platform, &stage.remote_id).await;
        shop.unwrap().busy_minutes
    };
    set(&connection, StoreTarget::Busy { minutes: 30 }).await.unwrap();
    assert_eq!(minutes().await, Some(30));
    assert_eq!(
        state(&connection).await,
        StoreState::Open,
        "Getir does not show it"
    );
    let back = StoreChange {
        from: StoreState::Busy,
        busy_is_set: true,
        ..change(StoreTarget::Open)
    };
    let run = connection.run(|link, answers| connection.platform.change_store(&back, link, answers));
    run.await.unwrap();
    assert_eq!(minutes().await, None);
    let odd = set(&connection, StoreTarget::Busy { minutes: 20 }).await;
    assert!(is_unsupported(&odd));
    for platform in [Platform::Yemeksepeti, Platform::Trendyol, Platform::Migros] {
        let connection = connect(platform).await;
        assert!(
            !connection
                .platform
                .offers(PlatformTask::BusyMode, &connection.credentials)
        );
        let result = set(&connection, StoreTarget::Busy { minutes: 15 }).await;
        assert!(is_unsupported(&result), "{platform}");
    }
}

#[tokio::test]
async fn closing_by_the_platform_is_told_with_its_reason() {
    let connection = connect(Platform::Yemeksepeti).await;
    for (word, code, by) in [
        (
            "TOO_MANY_REJECTED_ORDERS",
            ReasonCode::TooManyRejections,
            Some(StoreActor::Platform),
        ),
        ("UNREACHABLE", ReasonCode::Unreachable, Some(StoreActor::Platform)),
        ("SOLAR_ECLIPSE", ReasonCode::Unknown, None),
        (
            "TOO_BUSY_KITCHEN",
            ReasonCode::KitchenBusy,
            Some(StoreActor::Account),
        ),
    ] {
        let closed = ShopRequest {
            open: Some(false),
            reason: Some(word.to_owned()),
            ..ShopRequest::default()
        };
        shop(&connection, closed).await;
        let reading = read(&connection).await.unwrap();
        let reason = reading.reason.unwrap();
        assert_eq!((reason.code, reason.word.as_deref()), (code, Some(word)));
        assert_eq!(reading.by, by, "{word}");
    }

    let mut connection = connect(Platform::Getir).await;
    connection.set("unansweredSource", "2");
    let closed = ShopRequest {
        open: Some(false),
        by: Some(ClosedBy::UnansweredOrder),
        ..ShopRequest::default()
    };
    shop(&connection, closed).await;
    let reading = read(&connection).await.unwrap();
    assert_eq!(reading.by, Some(StoreActor::Platform));
    assert_eq!(reading.reason.unwrap().code, ReasonCode::OrderNotAnswered);

    let connection = connect(Platform::Migros).await;
    let outside = ShopRequest {
        in_hours: Some(false),
        ..ShopRequest::default()
    };
    shop(&connection, outside).await;
    let reading = read(&connection).await.unwrap();
    assert_eq!(reading.by, Some(StoreActor::Schedule));
    assert_eq!(reading.reason.unwrap().code, ReasonCode::OutsideHours);
    assert!(reading.until.is_some());
}

#[tokio::test]
async fn getir_closes_a_restaurant_that_does_not_answer() {
    let mut settings = quick();
    settings.getir_answer_seconds = 300;
    let connection = connect_with(Platform::Getir, settings).await;
    let order = connection
        .stage
        .quiet_order(garson_sim::views::Courier::Platform)
        .await;
    connection.advance(301).await;
    connection
        .stage
        .until(&order.provider_order_id, |order| order.state_text() == "1600")
        .await;
    let reading = read(&connection).await.unwrap();
    assert_eq!(
        (reading.state, reading.by),
        (StoreState::Closed, Some(StoreActor::Platform))
    );
    set(&connection, StoreTarget::Open).await.unwrap();
}

#[tokio::test]
async fn refused_opening_carries_the_platforms_words() {
    let connection = connect(Platform::Yemeksepeti).await;
    let shut = ShopRequest {
        open: Some(false),
        reason: Some("FRAUD".to_owned()),
        changeable: Some(false),
        ..ShopRequest::default()
    };
    shop(&connection, shut).await;
    assert!(!read(&connection).await.unwrap().can_change);
    assert!(refusal(set(&connection, StoreTarget::Open).await).contains("FRAUD"));
    let calls = connection.stage.control.counts(None).await.unwrap();
    let puts = calls.iter().any(|count| count.operation == "set-availability");
    assert!(!puts, "nothing is sent that would be refused");

    let check_in = ShopRequest {
        changeable: Some(true),
        check_in_required: Some(true),
        ..ShopRequest::default()
    };
    shop(&connection, check_in).await;
    assert!(refusal(set(&connection, StoreTarget::Open).await).contains("CHECK_IN_REQUIRED"));

    let connection = connect(Platform::Getir).await;
    let outside = ShopRequest {
        in_hours: Some(false),
        ..ShopRequest::default()
    };
    shop(&connection, outside).await;
    let words = refusal(set(&connection, StoreTarget::Open).await);
    assert!(words.contains("çalışma saatleri"), "{words}");
}

#[tokio::test]
async fn answer_without_a_result_is_asked_for_again() {
    let connection = connect(Platform::Yemeksepeti).await;
    let waiting = ShopRequest {
        not_ready_answers: Some(2),
        ..ShopRequest::default()
    };
    shop(&connection, waiting).await;
    for _ in 0..2 {
        assert!(matches!(
            read(&connection).await,
            Err(PlatformError::Answered(CallError::NotYet { .. }))
        ));
    }
    assert_eq!(state(&connection).await, StoreState::Open);
    let offer = read(&connection).await.unwrap().offer.unwrap();
    assert_eq!(offer.minutes, [30, 60, 120, 240, 720]);
    assert!(offer.can_open && offer.can_close && offer.can_close_for_today);
    assert_eq!(offer.reasons.len(), 6);
}

#[tokio::test]
async fn wrong_answers_of_the_platform_are_seen_in_what_is_read() {
    for platform in Platform::ALL {
        let connection = connect(platform).await;
        let ignoring = ShopRequest {
            ignores_changes: Some(true),
            ..ShopRequest::default()
        };
        shop(&connection, ignoring).await;
        set(&connection, closed(ClosingEnd::Never)).await.unwrap();
        assert_eq!(
            state(&connection).await,
            StoreState::Open,
            "{platform} says that it did"
        );
        let lying = ShopRequest {
            reads_as: Some("closed".to_owned()),
            ..ShopRequest::default()
        };
        shop(&connection, lying).await;
        assert_eq!(state(&connection).await, StoreState::Closed, "{platform}");
    }
    let connection = connect_with(Platform::Getir, patient()).await;
    let forgetful = ShopRequest {
        forgets_timers: Some(true),
        ..ShopRequest::default()
    };
    shop(&connection, forgetful).await;
    set(&connection, for_minutes(15)).await.unwrap();
    connection.advance(3_000).await;
    assert_eq!(state(&connection).await, StoreState::Closed);
}

#[tokio::test]
async fn third_switch_in_a_minute_is_blocked_by_getir() {
    let connection = connect_with(Platform::Getir, quick()).await;
    set(&connection, closed(ClosingEnd::Never)).await.unwrap();
    set(&connection, StoreTarget::Open).await.unwrap();
    let third = set(&connection, closed(ClosingEnd::Never)).await;
    let Err(PlatformError::Answered(CallError::Later { pause, .. })) = third else {
        panic!("{third:?}");
    };
    assert_eq!(pause, Some(Duration::from_secs(30)));
    connection.advance(61).await;
    assert!(set(&connection, closed(ClosingEnd::Never)).await.is_ok());
}

#[tokio::test]
async fn store_of_another_seller_is_not_found() {
    let mut connection = connect(Platform::Trendyol).await;
    connection.branch = "2738:999";
    assert!(refusal(read(&connection).await).contains("lacks the store"));
}
