//! The service is killed in the middle of a call: what the platform has done is found out, and not done again.

use super::road::{ROADS, Road};
use crate::support::{Caller, Home, Kind, Meal, Program, Street, quick, raw, request, until};
use garson_sim::Platform::{self, Yemeksepeti};
use garson_sim::views::{Courier, Fault, OrderRequest};
use garson_sim::{Sim, SimSettings};
use serde_json::json;
use std::collections::BTreeSet;

on_both! {
    a_step_in_flight_is_found_done
    a_verification_in_flight_is_found_done
    a_cancellation_in_flight_is_found_done
    orders_arrive_while_the_service_is_killed
}

/// The real program beside the platforms; it comes back where it was.
struct Wreck {
    street: Street,
    program: Program,
    settings: Vec<(String, String)>,
    port: u16,
    home: Home,
}

impl Wreck {
    async fn open(kind: Kind, sim: SimSettings, poll_seconds: u32) -> Self {
        let home = Home::new(kind);
        let key = home.create_account("one@example.com");
        let sim = Sim::start(sim).await.unwrap();
        let mut settings = vec![("GARSON_RATE_LIMIT".to_owned(), "off".to_owned())];
        for platform in Platform::ALL {
            let name = platform.to_string().to_uppercase();
            let mut set =
                |key: &str, value: String| settings.push((format!("GARSON_PLATFORMS__{name}__{key}"), value));
            set("BASE_URL", format!("http://{}/{platform}", sim.address()));
            set("SECONDS_BETWEEN_MOVES", "0".to_owned());
            if platform != Yemeksepeti {
                set("POLL_SECONDS", poll_seconds.to_string());
            }
        }
        let mut program = start(&home, 0, &settings);
        let addr = program.address().await;
        Self {
            street: Street::open(sim, Caller::new(addr, &key)).await,
            program,
            settings,
            port: addr.port(),
            home,
        }
    }

    fn kill(&mut self) {
        self.program.kill();
    }

    async fn revive(&mut self) {
        self.program = start(&self.home, self.port, &self.settings);
        self.program.address().await;
    }

    /// Leaves a request to itself, whose answer nobody will see.
    fn ask(&self, path: &str) {
        let bearer = format!("Bearer {}", self.street.a.key);
        let headers = [("authorization", bearer.as_str())];
        let bytes = request("POST", &format!("/web-api/v1{path}"), &headers, b"");
        let addr = self.street.a.addr;
        tokio::spawn(async move { raw(addr, &bytes).await });
    }
}

fn start(home: &Home, port: u16, settings: &[(String, String)]) -> Program {
    let settings: Vec<(&str, &str)> = settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    Program::serve_at(home, port, &settings)
}

/// An order of each platform whose courier is the restaurant's.
async fn one_of_each(street: &Street) -> Vec<(Road, Meal)> {
    let mut meals = Vec::new();
    for road in ROADS
        .into_iter()
        .filter(|road| road.courier == Courier::Restaurant)
    {
        meals.push((road, street.order(road.platform, road.courier).await));
    }
    meals
}

/// Waits until the platform has done something and keeps its answer back.
async fn is_held(street: &Street, meal: &Meal) {
    until(&format!("{meal:?} is held"), async || {
        street
            .sent(meal)
            .await
            .last()
            .is_some_and(|line| line.ends_with(" -"))
    })
    .await;
}

async fn a_step_in_flight_is_found_done(kind: Kind) {
    let mut wreck = Wreck::open(kind, quick(), 0).await;
    let meals = one_of_each(&wreck.street).await;
    for (road, meal) in &meals {
        wreck.street.verify(meal).await.data();
        let call = road.on_the_way.call.unwrap();
        wreck
            .street
            .fault(road.platform, call, Fault::TimeoutAfterWork, Some(1))
            .await;
        wreck.street.advance(meal).await.data();
        is_held(&wreck.street, meal).await;
    }
    wreck.kill();
    wreck.revive().await;
    for (road, meal) in &meals {
        let street = &wreck.street;
        let order = street.synced(meal, "done").await;
        assert_eq!(order["status"], json!(600), "{road:?}");
        assert_eq!(
            street.view(meal).await.state_text(),
            road.on_the_way.state,
            "{road:?}"
        );
        let held = format!("{} -", road.on_the_way.call.unwrap());
        let sent = street.sent(meal).await;
        assert_eq!(
            sent.iter().filter(|line| **line == held).count(),
            1,
            "{road:?} {sent:?}"
        );
        let mut calls = vec![format!("{} 200", road.verify.call.unwrap())];
        calls.extend(road.ready.call.map(|call| format!("{call} 200")));
        match road.platform {
            // The same call tells of ready; that was the one which was held.
            Platform::Migros => calls.insert(1, held),
            _ => calls.push(held),
        }
        if road.platform == Yemeksepeti {
            // Its report knows no more than that it was accepted: asked again, it says that it was so already.
            calls.push("order_picked_up 409".to_owned());
        }
        assert_eq!(sent, calls, "{road:?}");
        let story = ["created 400", "400>500 account", "500>600 account"];
        assert_eq!(street.story(meal).await, story, "{road:?}");
    }
}

async fn a_verification_in_flight_is_found_done(kind: Kind) {
    let mut wreck = Wreck::open(kind, quick(), 0).await;
    let meals = one_of_each(&wreck.street).await;
    for (road, meal) in &meals {
        let call = road.verify.call.unwrap();
        wreck
            .street
            .fault(road.platform, call, Fault::TimeoutAfterWork, Some(1))
            .await;
        wreck.ask(&format!("/orders/verify/{}", meal.id));
        is_held(&wreck.street, meal).await;
    }
    wreck.kill();
    wreck.revive().await;
    for (road, meal) in &meals {
        let street = &wreck.street;
        street.reaches(meal, 500).await;
        assert_eq!(
            street.view(meal).await.state_text(),
            road.verify.state,
            "{road:?}"
        );
        assert_eq!(
            street.sent(meal).await,
            [format!("{} -", road.verify.call.unwrap())],
            "{road:?}"
        );
        assert_eq!(
            street.story(meal).await,
            ["created 400", "400>500 account"],
            "{road:?}"
        );
        assert_eq!(street.verify(meal).await.data()["status"], json!(500));
    }
}

async fn a_cancellation_in_flight_is_found_done(kind: Kind) {
    let mut wreck = Wreck::open(kind, quick(), 0).await;
    let meals = one_of_each(&wreck.street).await;
    let mut sent = Vec::new();
    for (road, meal) in &meals {
        let call = match road.platform {
            Platform::Getir => "cancel",
            Platform::Yemeksepeti => "order_rejected",
            Platform::Trendyol => "unsupplied",
            Platform::Migros => "update-status",
        };
        wreck
            .street
            .fault(road.platform, "push", Fault::Drop, Some(1))
            .await;
        wreck
            .street
            .fault(road.platform, call, Fault::TimeoutAfterWork, Some(1))
            .await;
        wreck.ask(&format!("/orders/cancel/{}", meal.id));
        is_held(&wreck.street, meal).await;
        sent.push(format!("{call} -"));
    }
    wreck.kill();
    wreck.revive().await;
    for ((road, meal), line) in meals.iter().zip(sent) {
        let street = &wreck.street;
        street.reaches(meal, 1600).await;
        assert_eq!(street.sent(meal).await, [line], "{road:?}");
        assert_eq!(
            street.story(meal).await,
            ["created 400", "cancelled 1600 account"],
            "{road:?}"
        );
    }
}

async fn orders_arrive_while_the_service_is_killed(kind: Kind) {
    let sim = SimSettings {
        push_retry_millis: Some(200),
        ..quick()
    };
    let mut wreck = Wreck::open(kind, sim, 1).await;
    let mut meals = Vec::new();
    for count in [3, 4, 3] {
        for platform in Platform::ALL {
            let request = OrderRequest {
                count,
                ..OrderRequest::new(platform)
            };
            meals.extend(wreck.street.place_many(request).await);
        }
        match meals.len() {
            // Some of the first have arrived.
            12 => wreck.kill(),
            // The next find nobody.
            28 => wreck.revive().await,
            _ => {}
        }
    }
    for meal in &meals {
        let order = wreck.street.reaches(meal, 400).await;
        assert_eq!(order["provider"], json!(meal.platform.to_string()));
    }
    for meal in &meals {
        assert_eq!(wreck.street.story(meal).await, ["created 400"], "{meal:?}");
    }
    let orders = wreck.street.orders().await;
    let distinct: BTreeSet<String> = orders
        .iter()
        .map(|order| order["providerOrderId"].to_string())
        .collect();
    assert_eq!((orders.len(), distinct.len()), (40, 40));
}
