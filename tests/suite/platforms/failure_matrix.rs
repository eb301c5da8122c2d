//! Every step of every platform with every kind of failure, once and for a minute: in the end both sides agree on every order,
//! or the order shows exactly what the platform has refused.

use super::expected_calls::{EXPECTED_CALLS, ExpectedCalls};
use crate::support::{Backend, PlatformOrder, PlatformWorld, block_on, credentials, wait_until};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::Courier::{self, Pickup, Restaurant};
use garson_sim::views::{Fault, OrderRequest, Quirks, StoreRequest};
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};

/// What is done while the fault is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Verify,
    /// The order is for later.
    VerifyScheduled,
    Ready,
    OnTheWay,
    Delivered,
    Reject,
    Cancel,
}

use Step::{Cancel, Delivered, OnTheWay, Ready, Reject, Verify, VerifyScheduled};

/// Every call that a platform knows, each with a courier for which it is made.
const STEPS: [(Platform, Courier, Step); 25] = [
    (Getir, Restaurant, Verify),
    (Getir, Restaurant, VerifyScheduled),
    (Getir, Courier::Platform, Ready),
    (Getir, Courier::Platform, OnTheWay),
    (Getir, Restaurant, OnTheWay),
    (Getir, Restaurant, Delivered),
    (Getir, Restaurant, Reject),
    (Yemeksepeti, Courier::Platform, Verify),
    (Yemeksepeti, Courier::Platform, Ready),
    (Yemeksepeti, Restaurant, OnTheWay),
    (Yemeksepeti, Pickup, OnTheWay),
    (Yemeksepeti, Restaurant, Reject),
    (Trendyol, Restaurant, Verify),
    (Trendyol, Courier::Platform, Ready),
    (Trendyol, Restaurant, Ready),
    (Trendyol, Restaurant, OnTheWay),
    (Trendyol, Restaurant, Delivered),
    (Trendyol, Pickup, Delivered),
    (Trendyol, Restaurant, Reject),
    (Migros, Restaurant, Verify),
    (Migros, Courier::Platform, Ready),
    (Migros, Restaurant, OnTheWay),
    (Migros, Restaurant, Delivered),
    (Migros, Restaurant, Reject),
    (Migros, Restaurant, Cancel),
];

/// What goes wrong in one restaurant.
#[derive(Clone, Debug, PartialEq)]
struct InjectedFault {
    /// What the step meets.
    fault: Fault,
    /// It stays for a minute.
    lasts: bool,
    /// What the first reading of the order meets after that.
    on_look: Option<Fault>,
}

fn status(status: u16) -> Fault {
    Fault::Status { status, body: None }
}

fn troubles() -> Vec<InjectedFault> {
    let once = |fault| InjectedFault {
        fault,
        lasts: false,
        on_look: None,
    };
    let mut faults: Vec<_> = [400, 401, 403, 404, 409, 411, 503].map(status).into();
    // The second of these has done its work.
    faults.extend([Fault::RateLimited, Fault::DropAfterWork, Fault::Drop]);
    let lasting = faults.iter().cloned().map(|fault| InjectedFault {
        lasts: true,
        ..once(fault)
    });
    let mut troubles: Vec<_> = lasting.collect();
    troubles.extend(faults.into_iter().map(once));
    // For a minute it is what `DropAfterWork` is for a minute, but each try takes the ten seconds that an answer is waited for, of
    // the machine's own time.
    troubles.push(once(Fault::TimeoutAfterWork));
    troubles.push(once(status(500)));
    for (fault, on_look) in [
        (status(409), status(503)),
        (status(500), Fault::Drop),
        (Fault::DropAfterWork, status(500)),
    ] {
        troubles.push(InjectedFault {
            on_look: Some(on_look),
            ..once(fault)
        });
    }
    troubles
}

#[derive(Clone, Debug)]
struct Case {
    expected: ExpectedCalls,
    step: Step,
    injected: InjectedFault,
    placed: PlatformOrder,
}

impl Case {
    /// The platform's name for the call that meets the fault.
    fn call(&self) -> &'static str {
        let told = match self.step {
            Verify => self.expected.verify.call,
            VerifyScheduled => Some("verify-scheduled"),
            Ready => self.expected.ready.call,
            OnTheWay => self.expected.on_the_way.call,
            Delivered => self.expected.delivered.call,
            Reject | Cancel => None,
        };
        told.unwrap_or(match (self.expected.platform, self.step) {
            (Getir, _) => "cancel",
            (Yemeksepeti, _) => "order_rejected",
            (Trendyol, _) => "unsupplied",
            (Migros, Cancel) => "cancel-order",
            (Migros, _) => "update-status",
        })
    }

    /// The platform's name for the call that reads an order.
    fn look(&self) -> &'static str {
        match self.expected.platform {
            Getir | Yemeksepeti => "order",
            Trendyol => "package",
            Migros => "detail",
        }
    }

    /// The order's status here on arrival.
    fn start(&self) -> i64 {
        match self.step {
            VerifyScheduled => 325,
            _ => 400,
        }
    }

    /// The order's status on both sides after the step.
    fn end(&self) -> (i64, &'static str) {
        let ExpectedCalls {
            verify,
            ready,
            on_the_way,
            delivered,
            platform,
            ..
        } = self.expected;
        match (self.step, platform) {
            (Verify, _) => (500, verify.state),
            (VerifyScheduled, _) => (350, "350"),
            (Ready, _) => (500, ready.state),
            (OnTheWay, _) => (600, on_the_way.state),
            (Delivered, _) => (900, delivered.state),
            (_, Getir) => (1600, "1600"),
            (_, Trendyol) => (1600, "UnSupplied"),
            (Cancel, _) => (1600, "CANCELLED"),
            (_, _) => (1600, "REJECTED"),
        }
    }

    fn is_question(&self) -> bool {
        matches!(self.step, Verify | VerifyScheduled | Reject | Cancel)
    }

    async fn act(&self, world: &PlatformWorld) -> u16 {
        let placed = &self.placed;
        match self.step {
            Verify | VerifyScheduled => world.verify(placed).await.status,
            Ready => world.ready(placed).await.status,
            OnTheWay | Delivered => world.advance(placed).await.status,
            Reject | Cancel => world.cancel(placed, json!({})).await.status,
        }
    }

    /// Brings the order to where the step begins.
    async fn prepare(&self, world: &PlatformWorld) {
        let placed = &self.placed;
        if matches!(self.step, Verify | VerifyScheduled | Reject) {
            return;
        }
        world.verify(placed).await.data();
        if matches!(self.step, OnTheWay | Delivered) {
            world.ready(placed).await.data();
            world.wait_for_sync(placed, self.expected.ready.sync()).await;
        }
        if self.step == Delivered {
            world.advance(placed).await.data();
            world.wait_for_sync(placed, self.expected.on_the_way.sync()).await;
        }
    }

    async fn sync(&self, world: &PlatformWorld) -> (String, String) {
        let order = world.find_order(&self.placed).await.unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let sync = &order["providerSync"];
        (text(&sync["state"]), text(&sync["message"]))
    }

    /// Before anything is repeated: what was asked for is done on both sides, or on neither.
    async fn agrees(&self, world: &PlatformWorld) {
        let (status, state) = self.end();
        let here = world.find_order(&self.placed).await.unwrap();
        let there = world.view(&self.placed).await;
        let is_done_here = if self.is_question() {
            here["status"] == json!(status)
        } else {
            here["providerSync"]["state"] == json!("done")
        };
        assert_eq!(
            is_done_here,
            there.state_text() == state,
            "{self:?}\nhere {here:#}\nthere {there:#?}"
        );
    }

    /// After everything: a client repeats what it was refused, and then both sides agree.
    async fn settle(&self, world: &PlatformWorld) {
        self.agrees(world).await;
        let (status, state) = self.end();
        let (sync, message) = self.sync(world).await;
        if self.is_question() {
            if world.find_order(&self.placed).await.unwrap()["status"] != json!(status) {
                let answer = self.act(world).await;
                assert_eq!(answer, 200, "{self:?}");
            }
        } else if sync == "failed" {
            // Only this fault is a final refusal, and the order shows it.
            assert!(message.contains("400"), "{self:?}: {message}");
            assert_eq!(self.injected.fault, self::status(400), "{self:?}");
            assert_ne!(world.view(&self.placed).await.state_text(), state, "{self:?}");
            let path = format!("/orders/retry-sync/{}", self.placed.id);
            assert_eq!(
                world.a.act(&path).await.data()["providerSync"]["state"],
                json!("pending")
            );
            world.wait_for_sync(&self.placed, "done").await;
        } else {
            assert_eq!(sync, "done", "{self:?} {message}");
        }
        let order = world.wait_for_status(&self.placed, status).await;
        let sync = order["providerSync"]["state"].as_str().unwrap_or_default();
        assert!(["done", "not_needed"].contains(&sync), "{self:?} {order:#}");
        let there = world.view(&self.placed).await;
        assert_eq!(there.state_text(), state, "{self:?} {there:#?}");
    }
}

/// One restaurant of many on a platform, with secrets of its own: what one of them meets slows down no other.
fn nth_store(platform: Platform, n: usize, hooks: &str) -> (StoreRequest, Value) {
    const SHARED: [&str; 6] = [
        "keyDerivation",
        "secretKey",
        "supplierId",
        "integratorName",
        "executorUser",
        "chainCode",
    ];
    let mut own = credentials(platform);
    for (name, value) in own.as_object_mut().unwrap() {
        match value {
            Value::String(text) if !SHARED.contains(&name.as_str()) => text.push_str(&format!("-{n}")),
            Value::Object(headers) => {
                for secret in headers.values_mut() {
                    *secret = json!(format!("{}-{n}", secret.as_str().unwrap()));
                }
            }
            _ => {}
        }
    }
    let remote_id = match platform {
        Getir => format!("5e{n:022}"),
        Yemeksepeti => format!("kadikoy-{n}"),
        Trendyol => {
            // Requests are counted for each seller.
            own["supplierId"] = json!((3_000 + n).to_string());
            format!("{}:{}", 3_000 + n, 100 + n)
        }
        Migros => format!("{}", 9_000 + n),
    };
    let store = StoreRequest {
        platform,
        remote_id,
        name: None,
        hook_url: Some(hooks.to_owned()),
        credentials: own.clone(),
        quirks: Quirks::default(),
    };
    if let Some(headers) = own.get_mut("inboundHeaders") {
        *headers = json!(headers.to_string());
    }
    (store, own)
}

/// A restaurant on all platforms, and an order there for each step.
async fn open_restaurant(world: &PlatformWorld, n: usize, injected: &InjectedFault) -> Vec<Case> {
    let made = world
        .a
        .post("/restaurants", &json!({ "name": "Matrix" }))
        .await
        .data();
    let id = made["id"].as_str().unwrap();
    let hooks = format!("http://{}", world.a.addr);
    let mut cases = Vec::new();
    for platform in Platform::ALL {
        let (store, own) = nth_store(platform, n, &hooks);
        let remote_id = store.remote_id.clone();
        world.control.put_store(&store).await.unwrap();
        let body = json!({ "isActive": true, "remoteId": remote_id, "credentials": own });
        let path = format!("/restaurants/{id}/integrations/{platform}");
        world.a.put(&path, &body).await.data();
        for (_, courier, step) in STEPS.into_iter().filter(|(its, ..)| *its == platform) {
            let is_it =
                |expected: &&ExpectedCalls| expected.platform == platform && expected.courier == courier;
            let request = OrderRequest {
                courier: Some(courier),
                remote_id: Some(remote_id.clone()),
                scheduled_in_minutes: (step == VerifyScheduled).then_some(24 * 60),
                ..OrderRequest::new(platform)
            };
            cases.push(Case {
                expected: *EXPECTED_CALLS.iter().find(is_it).unwrap(),
                step,
                injected: injected.clone(),
                placed: world.place(request).await,
            });
        }
    }
    cases
}

/// Runs all cases, this many at a time.
async fn each<F: Future<Output = ()> + 'static>(
    world: &Arc<PlatformWorld>,
    cases: &[Case],
    at_once: usize,
    work: impl Fn(Arc<PlatformWorld>, Case) -> F,
) {
    let all = async {
        let (mut running, places) = (JoinSet::new(), Arc::new(Semaphore::new(at_once)));
        for case in cases {
            let (work, places) = (work(Arc::clone(world), case.clone()), Arc::clone(&places));
            running.spawn_local(async move {
                let _place = places.acquire_owned().await.unwrap();
                work.await;
            });
        }
        while let Some(ended) = running.join_next().await {
            ended.unwrap();
        }
    };
    LocalSet::new().run_until(all).await;
}

#[test]
fn both_sides_agree_after_every_failure_of_every_step() {
    block_on(async {
        let world = Arc::new(PlatformWorld::open_without_polling(Backend::Sqlite).await);
        let mut cases = Vec::new();
        for injected in troubles() {
            cases.extend(open_restaurant(&world, cases.len(), &injected).await);
        }
        each(&world, &cases, 16, |world, case| async move {
            world.wait_for_status(&case.placed, case.start()).await;
            if case.expected.platform == Yemeksepeti {
                world.wait_for_platform_state(&case.placed, "RECEIVED").await;
            }
            case.prepare(&world).await;
            let InjectedFault {
                fault,
                lasts,
                on_look,
            } = case.injected.clone();
            let times = (!lasts).then_some(1);
            world.fault_of(&case.placed, case.call(), fault, times).await;
            if let Some(fault) = on_look {
                world.fault_of(&case.placed, case.look(), fault, Some(1)).await;
            }
        })
        .await;
        // All at once: a question may take the ten seconds that a client waits.
        each(&world, &cases, cases.len(), |world, case| async move {
            let answer = case.act(&world).await;
            let allowed: &[u16] = if case.is_question() {
                &[200, 409, 502, 504]
            } else {
                &[200]
            };
            assert!(allowed.contains(&answer), "{case:?}: {answer}");
        })
        .await;
        for _ in 0..6 {
            world.advance_clock(10).await;
        }
        world.control.clear_faults().await.unwrap();
        wait_until("nothing is pending any more", async || {
            world.advance_clock(60).await;
            world.service.count("calls WHERE state = 'open'") == 0
        })
        .await;
        each(&world, &cases, 16, |world, case| async move {
            case.settle(&world).await;
        })
        .await;
    });
}
