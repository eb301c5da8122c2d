//! The program is killed: it or another node continues timers, and reads what may have been done before repeating it.

use super::setup::{
    change_shop, changes, of, operations, path, put, results, shop, wait_for_store, wait_until_open,
};
use crate::platforms::crash::{KillableProgram, platform_settings, start};
use crate::support::{
    ApiClient, Backend, Program, SimulatedPlatforms, TestStorage, block_on, fast_sim_settings, on_postgres,
    wait_until,
};
use garson_core::clock::{Clock, SystemClock};
use garson_sim::views::{Fault, ShopRequest};
use garson_sim::{Platform, Sim};
use serde_json::json;
use std::time::Duration;

on_both! {
    stores_are_opened_on_time_after_a_crash
    change_in_flight_is_found_done
}

/// Yemeksepeti has a timer for any time: it forgets it here, so that Garson has to open every store.
async fn forget_timer(platforms: &SimulatedPlatforms) {
    let forgets = ShopRequest {
        forgets_timers: Some(true),
        ..ShopRequest::default()
    };
    change_shop(platforms, Platform::Yemeksepeti, forgets).await;
}

/// Closes every store for some seconds.
async fn close_for(platforms: &SimulatedPlatforms, seconds: u64) {
    forget_timer(platforms).await;
    let until = SystemClock.now().plus(Duration::from_secs(seconds)).to_string();
    let answer = put(platforms, json!({ "state": "closed", "until": until })).await;
    for platform in Platform::ALL {
        let shown = of(&answer, platform);
        let is_theirs = platform == Platform::Yemeksepeti;
        let timer = if is_theirs { "platform" } else { "garson" };
        assert_eq!(
            (&shown["result"], &shown["wanted"]["timer"]),
            (&json!("done"), &json!(timer)),
            "{shown:#}"
        );
    }
}

/// Waits until Garson has opened every store.
async fn are_opened_by_garson(platforms: &SimulatedPlatforms) {
    for platform in Platform::ALL {
        wait_until_open(platforms, platform).await;
        let shown = wait_for_store(platforms, platform, "is open", |it| {
            it["wanted"]["result"] == json!("done") && it["state"] == json!("open")
        })
        .await;
        assert_eq!(shown["wanted"]["by"], json!("account"));
        let asked = changes(platforms, platform).await;
        assert_eq!(asked, ["closed", "open"], "{platform}");
    }
}

async fn stores_are_opened_on_time_after_a_crash(backend: Backend) {
    let mut killable = KillableProgram::open(backend, fast_sim_settings(), 0).await;
    close_for(&killable.platforms, 8).await;
    killable.kill();
    for platform in Platform::ALL {
        assert!(!shop(&killable.platforms, platform).await.open, "{platform}");
    }
    killable.revive().await;
    are_opened_by_garson(&killable.platforms).await;
}

/// Lets every platform close its store and keep the answer back.
async fn keep_answers_back(platforms: &SimulatedPlatforms) {
    for platform in Platform::ALL {
        let (close, _) = operations(platform);
        platforms
            .fault(platform, close, Fault::TimeoutAfterWork, Some(1))
            .await;
    }
}

async fn all_are_closed(platforms: &SimulatedPlatforms) {
    for platform in Platform::ALL {
        wait_until(&format!("{platform} is closed"), async || {
            !shop(platforms, platform).await.open
        })
        .await;
    }
}

/// Waits until it is found that every store is closed, without another request to close it.
async fn are_found_closed(platforms: &SimulatedPlatforms) {
    for platform in Platform::ALL {
        let shown = wait_for_store(platforms, platform, "is found closed", |it| {
            it["wanted"]["result"] == json!("done")
        })
        .await;
        assert_eq!(
            (&shown["state"], &shown["by"]),
            (&json!("closed"), &json!("account")),
            "{shown:#}"
        );
        assert_eq!(changes(platforms, platform).await, ["closed"], "{platform}");
    }
}

async fn change_in_flight_is_found_done(backend: Backend) {
    let mut killable = KillableProgram::open(backend, fast_sim_settings(), 0).await;
    keep_answers_back(&killable.platforms).await;
    killable.ask_put(&path(&killable.platforms, "store"), &json!({ "state": "closed" }));
    all_are_closed(&killable.platforms).await;
    killable.kill();
    killable.revive().await;
    are_found_closed(&killable.platforms).await;
}

/// Two nodes on one database. The first looks after the stores; requests go to the second.
struct TwoNodes {
    platforms: SimulatedPlatforms,
    first: Program,
    _second: Program,
    // Last, so that the database is dropped after everything that uses it.
    _storage: TestStorage,
}

impl TwoNodes {
    async fn start() -> Self {
        let storage = TestStorage::new(Backend::Postgres);
        let key = storage.create_account("one@example.com");
        let sim = Sim::start(fast_sim_settings()).await.unwrap();
        let settings = platform_settings(&sim, 0);
        let mut first = start(&storage, 0, &settings);
        let client = ApiClient::new(first.address().await, &key);
        let mut platforms = SimulatedPlatforms::open(sim, client).await;
        wait_until("the first node looks after the stores", async || {
            let sql = "SELECT COUNT(*) FROM store_states WHERE node IN (SELECT id FROM nodes)";
            let held: i64 = on_postgres(&storage.database_url(), |client| {
                client.query_one(sql, &[]).unwrap().get(0)
            });
            held == 4
        })
        .await;
        let mut second = start(&storage, 0, &settings);
        platforms.a = ApiClient::new(second.address().await, &key);
        Self {
            platforms,
            first,
            _second: second,
            _storage: storage,
        }
    }
}

#[test]
fn closing_that_a_killed_node_has_begun_is_finished_by_another() {
    block_on(async {
        let mut nodes = TwoNodes::start().await;
        keep_answers_back(&nodes.platforms).await;
        let (answer, ()) = tokio::join!(put(&nodes.platforms, json!({ "state": "closed" })), async {
            all_are_closed(&nodes.platforms).await;
            nodes.first.kill();
        });
        assert_eq!(results(&answer), ["pending"; 4], "{answer:#}");
        are_found_closed(&nodes.platforms).await;
    });
}

#[test]
fn stores_that_a_killed_node_has_closed_are_opened_by_another() {
    block_on(async {
        let mut nodes = TwoNodes::start().await;
        close_for(&nodes.platforms, 10).await;
        nodes.first.kill();
        for platform in Platform::ALL {
            assert!(!shop(&nodes.platforms, platform).await.open, "{platform}");
        }
        are_opened_by_garson(&nodes.platforms).await;
    });
}
