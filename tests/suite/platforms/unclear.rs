//! A platform does its work and nobody hears of it: the order is read before anything is repeated.

use super::road::{ROADS, Stop, answered, own_couriers};
use crate::support::{Kind, Meal, Town};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault};
use serde_json::json;

on_both! {
    a_verification_without_an_answer_is_read_back
    a_verification_that_hangs_is_read_back
    a_verification_that_cannot_be_read_back_at_once_is_read_back_later
    a_verification_that_is_told_of_before_it_is_read_back
    a_cancellation_without_an_answer_is_read_back
    a_cancellation_that_is_told_of_before_its_answer_keeps_our_words
    a_step_without_an_answer_is_read_back_and_not_repeated
    a_step_that_was_not_done_is_repeated
    half_an_answer_is_no_answer
}

async fn a_verification_without_an_answer_is_read_back(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in ROADS {
        let meal = town.order(road.platform, road.courier).await;
        let verify = road.verify.call.unwrap();
        town.fault(road.platform, verify, Fault::DropAfterWork, Some(1))
            .await;
        let verified = town.verify(&meal).await.data();
        assert_eq!(verified["status"], json!(500), "{road:?}");
        assert_eq!(town.sent(&meal).await, [format!("{verify} -")], "{road:?}");
        assert_eq!(town.view(&meal).await.state_text(), road.verify.state);
        town.synced(&meal, "done").await;
        assert_eq!(
            town.story(&meal).await,
            ["created 400", "400>500 account"],
            "{road:?}"
        );
    }
}

async fn a_verification_that_hangs_is_read_back(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    // All at once: each takes the ten seconds that a client waits.
    let mut meals = Vec::new();
    for road in own_couriers() {
        let meal = town.order(road.platform, road.courier).await;
        let verify = road.verify.call.unwrap();
        town.fault(road.platform, verify, Fault::TimeoutAfterWork, Some(1))
            .await;
        meals.push((road, meal));
    }
    let [first, second, third, fourth] = [0, 1, 2, 3].map(|n| town.verify(&meals[n].1));
    let (first, second, third, fourth) = tokio::join!(first, second, third, fourth);
    for reply in [first, second, third, fourth] {
        reply.refused(504, "provider_timeout");
    }
    for (road, meal) in &meals {
        town.reaches(meal, 500).await;
        town.synced(meal, "done").await;
        assert_eq!(
            town.sent(meal).await,
            [format!("{} -", road.verify.call.unwrap())]
        );
        assert_eq!(
            town.story(meal).await,
            ["created 400", "400>500 account"],
            "{road:?}"
        );
        // A client that repeats itself hears that it is done.
        assert_eq!(town.verify(meal).await.data()["status"], json!(500));
    }
}

/// The call that reads one order.
fn look(platform: Platform) -> &'static str {
    match platform {
        Getir | Yemeksepeti => "order",
        Trendyol => "package",
        Migros => "detail",
    }
}

async fn a_verification_that_cannot_be_read_back_at_once_is_read_back_later(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for (was_done, fault) in [(true, Fault::DropAfterWork), (false, Fault::Drop)] {
        for road in own_couriers() {
            let meal = town.order(road.platform, road.courier).await;
            let verify = road.verify.call.unwrap();
            town.fault(road.platform, verify, fault.clone(), Some(1)).await;
            town.fault(road.platform, look(road.platform), Fault::Drop, None)
                .await;
            town.verify(&meal).await.refused(504, "provider_timeout");
            let order = town.shown(&meal).await.unwrap();
            assert_eq!(order["status"], json!(400), "{road:?}");
            town.control.clear_faults().await.unwrap();
            let mut lines = vec![format!("{verify} -")];
            match was_done {
                true => {
                    crate::support::until(&format!("{meal:?} is read back"), async || {
                        town.pass(10).await;
                        town.shown(&meal).await.unwrap()["status"] == json!(500)
                    })
                    .await;
                }
                // Nothing has happened, and it can be asked again when that is known.
                false => {
                    crate::support::until(&format!("{meal:?} can be asked again"), async || {
                        town.pass(10).await;
                        town.verify(&meal).await.status == 200
                    })
                    .await;
                    lines.push(format!("{verify} 200"));
                }
            }
            assert_eq!(town.sent(&meal).await, lines, "{road:?}");
            assert_eq!(
                town.story(&meal).await,
                ["created 400", "400>500 account"],
                "{road:?}"
            );
        }
    }
}

/// Our question has no answer, and a list shows what has become of it before the order is read.
async fn a_verification_that_is_told_of_before_it_is_read_back(kind: Kind) {
    let town = Town::open(kind).await;
    for road in own_couriers().filter(|road| road.platform != Yemeksepeti) {
        let meal = town.order(road.platform, road.courier).await;
        let verify = road.verify.call.unwrap();
        town.fault(road.platform, verify, Fault::DropAfterWork, Some(1))
            .await;
        town.fault(road.platform, look(road.platform), Fault::Drop, None)
            .await;
        town.verify(&meal).await.refused(504, "provider_timeout");
        town.poll().await;
        town.reaches(&meal, 500).await;
        town.control.clear_faults().await.unwrap();
        told(&town, &meal).await;
        assert_eq!(town.sent(&meal).await, [format!("{verify} -")], "{road:?}");
        assert_eq!(town.story(&meal).await.len(), 2, "{road:?}");
        assert_eq!(town.verify(&meal).await.data()["status"], json!(500));
        // Nothing of it stands in the way of what comes next.
        town.advance(&meal).await.data();
        town.synced(&meal, "done").await;
        assert_eq!(
            town.view(&meal).await.state_text(),
            road.on_the_way.state,
            "{road:?}"
        );
    }
}

async fn a_cancellation_without_an_answer_is_read_back(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in ROADS {
        for is_accepted in [false, true] {
            let meal = match is_accepted {
                false => town.order(road.platform, road.courier).await,
                true => town.verified(road.platform, road.courier).await,
            };
            let cancel = match (road.platform, is_accepted) {
                (Getir, _) => "cancel",
                (Yemeksepeti, _) => "order_rejected",
                (Trendyol, _) => "unsupplied",
                (Migros, false) => "update-status",
                (Migros, true) => "cancel-order",
            };
            let before = town.sent(&meal).await;
            let reason = town.reasons(&meal).await.remove(0);
            // What the platform tells of it by itself is lost too.
            town.fault(road.platform, "push", Fault::Drop, Some(1)).await;
            town.fault(road.platform, cancel, Fault::DropAfterWork, Some(1))
                .await;
            let cancelled = town.cancel(&meal, json!({ "reason": reason })).await.data();
            assert_eq!(cancelled["status"], json!(1600), "{road:?} {is_accepted}");
            assert_eq!(
                town.sent(&meal).await,
                [before, vec![format!("{cancel} -")]].concat()
            );
            let order = town.shown(&meal).await.unwrap();
            assert_eq!(
                order["cancellation"]["by"],
                json!("account"),
                "{road:?} {is_accepted}"
            );
            assert_eq!(
                order["cancellation"]["reason"]["id"],
                json!(reason),
                "{road:?} {is_accepted}"
            );
            let story = town.story(&meal).await;
            assert_eq!(
                story.last().unwrap(),
                "cancelled 1600 account",
                "{road:?} {story:?}"
            );
            town.control.clear_faults().await.unwrap();
        }
    }
}

/// Trendyol tells of every cancellation, ours too, and its message may be faster than its answer.
async fn a_cancellation_that_is_told_of_before_its_answer_keeps_our_words(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    let meal = town.verified(Trendyol, Courier::Restaurant).await;
    town.fault(Trendyol, "unsupplied", Fault::DropAfterWork, Some(1))
        .await;
    town.fault(Trendyol, "package", Fault::Drop, None).await;
    // Whether the message comes before the client has given up is all the same.
    let body = json!({ "reason": "627", "note": "Karıştı" });
    let reply = town.cancel(&meal, body).await;
    assert!([200, 504].contains(&reply.status), "{}", reply.text());
    let order = town.reaches(&meal, 1600).await;
    assert_eq!(order["cancellation"]["note"], json!("Karıştı"), "{order:#}");
    assert_eq!(order["cancellation"]["reason"]["id"], json!("627"));
    let story = ["created 400", "400>500 account", "cancelled 1600 account"];
    assert_eq!(town.story(&meal).await, story);
    assert_eq!(town.calls(&meal, "unsupplied").await, 1);
}

/// Waits until everything is told, while time goes by.
async fn told(town: &Town, meal: &Meal) {
    crate::support::until(&format!("{meal:?} is told"), async || {
        town.pass(5).await;
        let order = town.shown(meal).await.unwrap();
        assert_ne!(order["providerSync"]["state"], json!("failed"), "{order:#}");
        order["providerSync"]["state"] == json!("done")
    })
    .await;
}

async fn a_step_without_an_answer_is_read_back_and_not_repeated(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in ROADS {
        let meal = town.verified(road.platform, road.courier).await;
        let mut lines = answered(&[road.verify.call.unwrap()]);
        for (number, stop) in [road.ready, road.on_the_way, road.delivered]
            .into_iter()
            .enumerate()
        {
            if let Some(call) = stop.call {
                town.fault(road.platform, call, Fault::DropAfterWork, Some(1))
                    .await;
            }
            match number {
                0 => town.ready(&meal).await.data(),
                _ => town.advance(&meal).await.data(),
            };
            let Stop { call: Some(call), .. } = stop else {
                continue;
            };
            told(&town, &meal).await;
            lines.push(format!("{call} -"));
            if (road.platform, call) == (Yemeksepeti, "prepared") || call == "order_picked_up" {
                // Its report knows accepted orders only; the repeat is answered with "it was so already".
                let sent = town.sent(&meal).await;
                assert!(sent.len() <= lines.len() + 1, "{road:?} {sent:?}");
                lines.extend(sent.get(lines.len()).cloned());
            }
            assert_eq!(town.sent(&meal).await, lines, "{road:?} {call}");
            assert_eq!(town.view(&meal).await.state_text(), stop.state, "{road:?} {call}");
        }
        let story = [
            "created 400",
            "400>500 account",
            "500>600 account",
            "600>900 account",
        ];
        assert_eq!(town.story(&meal).await, story, "{road:?}");
    }
}

async fn a_step_that_was_not_done_is_repeated(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in ROADS {
        let meal = town.verified(road.platform, road.courier).await;
        let mut lines = answered(&[road.verify.call.unwrap()]);
        for (number, stop) in [road.ready, road.on_the_way, road.delivered]
            .into_iter()
            .enumerate()
        {
            if let Some(call) = stop.call {
                town.fault(road.platform, call, Fault::Drop, Some(1)).await;
            }
            match number {
                0 => town.ready(&meal).await.data(),
                _ => town.advance(&meal).await.data(),
            };
            let Stop { call: Some(call), .. } = stop else {
                continue;
            };
            told(&town, &meal).await;
            lines.extend([format!("{call} -"), format!("{call} 200")]);
            assert_eq!(town.sent(&meal).await, lines, "{road:?}");
            assert_eq!(town.view(&meal).await.state_text(), stop.state, "{road:?}");
        }
        assert_eq!(town.story(&meal).await.len(), 4, "{road:?}");
    }
}

async fn half_an_answer_is_no_answer(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in own_couriers() {
        let meal = town.order(road.platform, Courier::Platform).await;
        let verify = road.verify.call.unwrap();
        town.fault(road.platform, verify, Fault::Malformed, Some(1)).await;
        // The status says that it is done, or the order does: in any case it is done once.
        assert_eq!(town.verify(&meal).await.data()["status"], json!(500), "{road:?}");
        assert_eq!(town.calls(&meal, verify).await, 1, "{road:?}");
        assert_eq!(
            town.story(&meal).await,
            ["created 400", "400>500 account"],
            "{road:?}"
        );
    }
}
