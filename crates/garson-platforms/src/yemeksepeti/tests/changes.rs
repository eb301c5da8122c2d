//! What happened to an order, told by a message or seen when it is read back.

use super::*;
use garson_core::order::{Actor, Change, ContentVersion};
use garson_core::platform::Which;

#[test]
fn what_happened_to_an_order_is_read() {
    let ours = || Which::Ours(OUR_ID.parse().unwrap());
    let cancelled = |body: &str| match read(STATUS, body).map(|message| (message.branch, message.news)) {
        Ok((
            branch,
            News::Changed {
                order,
                change:
                    Change::Cancelled {
                        by,
                        reason,
                        note,
                        provider_status,
                    },
            },
        )) => {
            assert_eq!((branch.as_deref(), order), (Some(BRANCH), ours()));
            assert_eq!(provider_status.as_deref(), Some("ORDER_CANCELLED"));
            (by, reason.map(|reason| reason.id), note)
        }
        other => unreachable!("{other:?}"),
    };
    let note = |text: &str| Some(text.to_owned());
    assert_eq!(
        cancelled(CANCELLED),
        (Actor::Customer, None, note("Cancelled by customer"))
    );
    assert_eq!(
        cancelled(NO_RESPONSE),
        (Actor::Account, note("NO_RESPONSE"), note("NO_RESPONSE"))
    );
    for (message, by) in [
        ("Müşteri iptal etti", Actor::Customer),
        ("CUSTOMER_CANCELLED", Actor::Customer),
        ("Rejected by vendor", Actor::Account),
        ("reason: ITEM_UNAVAILABLE.", Actor::Account),
        ("NO_COURIER", Actor::Platform),
        ("TECHNICAL_PROBLEM", Actor::Platform),
        ("fraud", Actor::Platform),
        ("", Actor::Platform),
    ] {
        assert_eq!(
            cancelled(&with(CANCELLED, "/message", Some(json!(message)))).0,
            by,
            "{message}"
        );
    }
    assert_eq!(
        cancelled(&with(CANCELLED, "/message", None)),
        (Actor::Platform, None, None)
    );
    let moved = Change::Moved {
        to: Status::OnTheWay,
        by: Actor::Platform,
        provider_status: Some("ORDER_PICKED_UP".to_owned()),
    };
    let news = read(STATUS, PICKED_UP).map(|message| message.news);
    assert_eq!(
        news,
        Ok(News::Changed {
            order: ours(),
            change: moved
        })
    );
    for body in [NOT_MODIFIED, WAITING] {
        assert_eq!(read(STATUS, body).map(|message| message.news), Ok(News::Nothing));
    }
    let unheard = read(STATUS, r#"{"status":"ORDER_ACCEPTED","message":""}"#).map(|message| message.news);
    assert_eq!(unheard, Ok(News::Look { order: ours() }));
}

#[test]
fn a_modification_brings_the_order_as_it_has_become() {
    let sighting = |body: &str| match read(STATUS, body).map(|message| message.news) {
        Ok(News::Order(sighting)) => sighting,
        other => panic!("{other:?}"),
    };
    let whole: Value = serde_json::from_str(MODIFIED).unwrap();
    let seen = sighting(MODIFIED);
    let alone = match read(ORDER, &whole["updatedOrder"].to_string()).map(|message| message.news) {
        Ok(News::Order(sighting)) => sighting,
        other => panic!("{other:?}"),
    };
    assert_eq!(seen.order.content, alone.order.content);
    assert_eq!(
        (&seen.order.identity, &seen.change),
        (&alone.order.identity, &None)
    );
    // How it is called about stays as it arrived; and only a modification brings another version.
    assert_eq!(seen.order.provider_data, None);
    assert_eq!(alone.order.version, ContentVersion::Unchanging);
    let dated = with(MODIFIED, "/occurredAt", Some(json!("2026-03-01T15:30:00Z")));
    assert_eq!(
        sighting(&dated).order.version,
        ContentVersion::Numbered(1_772_379_000_000)
    );
    for undated in [None, Some(json!(null)), Some(json!("")), Some(json!("soon"))] {
        let body = with(MODIFIED, "/occurredAt", undated);
        assert_eq!(
            sighting(&body).order.version,
            ContentVersion::Unnumbered,
            "{body}"
        );
    }
    // What is odd beside the lines and sums is noted, and what is odd in them changes no order that is known.
    let beside = with(MODIFIED, "/updatedOrder/preOrder", Some(json!({})));
    assert_eq!(
        sighting(&beside).order.content.reading_notes[0].path,
        "updatedOrder.preOrder"
    );
    assert_ne!(sighting(&beside).order.version, ContentVersion::Unchanging);
    let within = with(MODIFIED, "/updatedOrder/products/0/quantity", Some(json!([])));
    assert_eq!(sighting(&within).order.version, ContentVersion::Unchanging);
    // Without the order, or with one that cannot be read, nothing is guessed.
    for missing in [None, Some(json!(null))] {
        let body = with(MODIFIED, "/updatedOrder", missing);
        assert_eq!(
            read(STATUS, &body).map(|message| message.news),
            Ok(News::Look {
                order: Which::Ours(OUR_ID.parse().unwrap())
            })
        );
    }
    for (place, path) in [
        ("/updatedOrder/price", "updatedOrder"),
        ("/updatedOrder/products", "updatedOrder"),
        ("/updatedOrder/token", "updatedOrder"),
    ] {
        let found = read(STATUS, &with(MODIFIED, place, None)).map_err(|unreadable| unreadable.path);
        assert!(
            matches!(&found, Err(at) if at.starts_with(path)),
            "{place}: {found:?}"
        );
    }
}

#[test]
fn an_update_must_name_an_order_of_ours() {
    for id in ["", "42", "018f3c1e7b1a7c3e8d2a1b2c3d4e5f60"] {
        let mut request = request(STATUS, CANCELLED);
        request.params[1].1 = id.to_owned();
        let path = Yemeksepeti
            .read(&Verified::ours(&request))
            .map_err(|unreadable| unreadable.path);
        assert_eq!(path, Err("remoteOrderId".to_owned()), "{id}");
    }
    for (body, path) in [
        ("{}", "status"),
        (r#"{"status":""}"#, "status"),
        (r#"{"status":[]}"#, "status"),
    ] {
        assert_eq!(
            read(STATUS, body).map_err(|unreadable| unreadable.path),
            Err(path.to_owned())
        );
    }
}

/// The order within an answer, with its status and reason set.
fn details(status: &str, reason: Value) -> String {
    let whole: Value = serde_json::from_str(DETAILS_ACCEPTED).unwrap();
    let order = with(&whole["order"].to_string(), "/status", Some(json!(status)));
    with(&order, "/reason", Some(reason))
}

#[test]
fn an_order_that_is_read_back_shows_where_it_stands() {
    let whole: Value = serde_json::from_str(DETAILS_CANCELLED).unwrap();
    let found = sighting(FETCHED, &whole["order"].to_string()).unwrap();
    assert_eq!(found.order.status, Status::New);
    assert_eq!(found.order.identity, new_order(PLATFORM).unwrap().identity);
    let stands = |status: &str, reason: Value| {
        let found = sighting(FETCHED, &details(status, reason)).unwrap();
        let to = match found.change {
            Some(Change::Moved { to, .. }) => Some(to),
            Some(Change::Cancelled { by, reason, .. }) => {
                assert!(reason.is_none_or(|reason| !reason.name.is_empty()));
                Some(by.cancelled_status())
            }
            None => None,
        };
        (to, found.is_ready)
    };
    for (status, reason, to, ready) in [
        ("accepted", json!(null), Some(Status::Preparing), false),
        ("ACCEPTED", json!(null), Some(Status::Preparing), false),
        ("prepared", json!(null), Some(Status::Preparing), true),
        ("order_picked_up", json!(null), Some(Status::OnTheWay), true),
        ("cancelled", json!("TOO_BUSY"), Some(Status::Cancelled), false),
        ("cancelled", json!("NO_RESPONSE"), Some(Status::Cancelled), false),
        (
            "cancelled",
            json!("LATE_DELIVERY"),
            Some(Status::CancelledByPlatform),
            false,
        ),
        (
            "cancelled",
            json!("CUSTOMER_CANCELLED"),
            Some(Status::CancelledByPlatform),
            false,
        ),
        ("cancelled", json!(null), Some(Status::CancelledByPlatform), false),
        (
            "cancelled",
            json!({ "x": 1 }),
            Some(Status::CancelledByPlatform),
            false,
        ),
        ("received", json!(null), None, false),
        ("", json!(null), None, false),
    ] {
        assert_eq!(stands(status, reason), (to, ready), "{status}");
    }
    let mut request = request(FETCHED, &details("accepted", json!(null)));
    request.params.clear();
    let branch = Yemeksepeti
        .read(&Verified::ours(&request))
        .map(|message| message.branch);
    assert_eq!(branch, Ok(None));
}
