//! Whose branch is it? Where the operator's credentials open all branches, a branch belongs to the account whose own credentials
//! have worked on the platform, or that the operator has chosen; naming it gives nothing and blocks nobody.

use crate::support::{Caller, Kind, Meal, Program, Town, quick, quiet, remote_id, store, until};
use garson::flow::admin::accounts;
use garson::flow::admin::connection_test::{Proof, try_connection};
use garson_core::secret::Secret;
use garson_sim::Platform::{self, Getir, Migros, Yemeksepeti};
use garson_sim::views::{Courier, OrderRequest};
use serde_json::{Value, json};

on_both! {
    a_push_goes_to_the_account_that_has_proven_the_branch
    a_claim_before_or_after_the_owner_gets_nothing
    hundreds_of_claims_block_nobody
    a_branch_is_proven_when_credentials_work_later
    credentials_of_another_branch_prove_nothing
    the_operator_decides_who_owns_a_branch
    the_operator_may_trust_the_first_claim
    a_deleted_integration_leaves_its_branch_to_whoever_proves_it
    the_operators_credentials_are_not_used_to_poll_for_a_claim
    kept_messages_are_not_handed_to_a_claim
}

const SHARED: [(&str, &[(&str, &str)]); 3] = [
    (
        "getir",
        &[
            ("app_secret_key", "app-secret"),
            ("inbound_key", "operator-knocks"),
        ],
    ),
    (
        "yemeksepeti",
        &[
            ("username", "user"),
            ("password", "pa&ss-word"),
            ("chain_code", "chain"),
            ("plugin_secret", "operator-plugin"),
        ],
    ),
    (
        "migros",
        &[
            ("api_key", "branch-key"),
            ("secret_key", "0123456789abcdef0123456789abcdef"),
            ("key_derivation", "raw"),
        ],
    ),
];

/// A town whose operator has credentials for all restaurants, with Alice's restaurant and Bob's.
struct Scene {
    town: Town,
    bob: Caller,
    bobs: String,
}

impl Scene {
    async fn open(kind: Kind, change: impl FnOnce(&mut garson::config::Settings)) -> Self {
        let town = Town::open_with(kind, quick(), |settings| {
            quiet(settings);
            for (platform, credentials) in SHARED {
                let terms = settings.platforms.get_mut(platform).unwrap();
                for (name, value) in credentials {
                    terms
                        .credentials
                        .insert((*name).to_owned(), Secret::new((*value).to_owned()));
                }
            }
            change(settings);
        })
        .await;
        for platform in [Getir, Yemeksepeti, Migros] {
            let path = format!("/restaurants/{}/integrations/{platform}", town.restaurant);
            town.a.delete(&path).await.done();
        }
        let bob = town.house.b.clone();
        let made = bob.post("/restaurants", &json!({ "name": "Bob" })).await.data();
        let scene = Self {
            bobs: made["id"].as_str().unwrap().to_owned(),
            bob,
            town,
        };
        scene
            .platforms_knock_at(&format!("http://{}", scene.town.house.addr))
            .await;
        scene
    }

    /// The platforms push with the operator's secrets.
    async fn platforms_knock_at(&self, url: &str) {
        let mut getir = store(Getir, url);
        getir.credentials["inboundKey"] = json!("operator-knocks");
        let mut yemeksepeti = store(Yemeksepeti, url);
        yemeksepeti.credentials["pluginSecret"] = json!("operator-plugin");
        for store in [getir, yemeksepeti] {
            self.town.control.put_store(&store).await.unwrap();
        }
    }

    fn alices(&self, platform: Platform) -> String {
        format!("/restaurants/{}/integrations/{platform}", self.town.restaurant)
    }

    fn bobs(&self, platform: Platform) -> String {
        format!("/restaurants/{}/integrations/{platform}", self.bobs)
    }

    async fn alice_connects(&self, platform: Platform, credentials: Value) {
        self.town.connect(platform, &credentials).await.data();
    }

    async fn bob_claims(&self, platform: Platform, more: Value) -> Value {
        let mut body = json!({ "remoteId": remote_id(platform) });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        self.bob.put(&self.bobs(platform), &body).await.data()
    }

    async fn order(&self, platform: Platform) -> Meal {
        let request = OrderRequest {
            courier: Some(Courier::Restaurant),
            remote_id: Some(remote_id(platform).to_owned()),
            ..OrderRequest::new(platform)
        };
        self.town.place(request).await
    }

    async fn alice_becomes(&self, platform: Platform, claim: &str) {
        becomes(&self.town.a, &self.alices(platform), claim).await;
    }

    async fn bob_becomes(&self, platform: Platform, claim: &str) {
        becomes(&self.bob, &self.bobs(platform), claim).await;
    }

    /// An order is pushed, reaches this account and not the other.
    async fn order_reaches(&self, owner: &Caller, other: &Caller, platform: Platform) {
        let meal = self.order(platform).await;
        until("the order arrives", async || has(owner, &meal).await).await;
        assert!(!has(other, &meal).await);
    }

    /// An order is pushed until the platform gives up, and reaches nobody.
    async fn order_reaches_nobody(&self, platform: Platform) -> Meal {
        let meal = self.order(platform).await;
        until("it knocks", async || {
            !self.town.view(&meal).await.pushes.is_empty()
        })
        .await;
        assert!(!self.town.house.kept().await.is_empty());
        for account in [&self.town.a, &self.bob] {
            assert!(!has(account, &meal).await);
        }
        meal
    }

    fn operator(&self, arguments: &[&str]) -> String {
        let outcome = self.town.house.command(arguments);
        assert!(outcome.success, "{arguments:?}: {} {}", outcome.out, outcome.err);
        outcome.out
    }

    fn assign(&self, platform: Platform, email: &str) {
        let (provider, branch) = (platform.to_string(), remote_id(platform));
        self.operator(&[
            "branch",
            "assign",
            "--provider",
            &provider,
            "--branch",
            branch,
            "--email",
            email,
        ]);
    }
}

async fn becomes(caller: &Caller, path: &str, claim: &str) {
    until("the branch is proven or not", async || {
        caller.get(path).await.data()["branch"] == json!(claim)
    })
    .await;
}

async fn has(caller: &Caller, meal: &Meal) -> bool {
    let orders = caller.get("/orders?limit=200").await.data();
    orders
        .as_array()
        .unwrap()
        .iter()
        .any(|order| order["providerOrderId"] == json!(meal.id))
}

fn own_key() -> Value {
    json!({ "restaurantSecretKey": "restaurant-secret" })
}

async fn a_push_goes_to_the_account_that_has_proven_the_branch(kind: Kind) {
    let scene = Scene::open(kind, |_| {}).await;
    let (alice, bob) = (&scene.town.a, &scene.bob);
    let claimed = scene.bob_claims(Getir, json!({})).await;
    assert_eq!(claimed["branch"], json!("unproven"));
    scene.alice_connects(Getir, own_key()).await;
    scene.alice_becomes(Getir, "proven").await;
    scene.order_reaches(alice, bob, Getir).await;
    // Where the platform names the branch in the address, and its log-in is the account's own.
    scene
        .bob_claims(
            Yemeksepeti,
            json!({ "credentials": { "pluginSecret": "bobs-own-secret" } }),
        )
        .await;
    let own = json!({ "username": "user", "password": "pa&ss-word", "chainCode": "chain" });
    scene.alice_connects(Yemeksepeti, own).await;
    scene.alice_becomes(Yemeksepeti, "proven").await;
    scene.order_reaches(alice, bob, Yemeksepeti).await;
    assert_eq!(
        bob.get(&scene.bobs(Getir)).await.data()["branch"],
        json!("unproven")
    );
    assert_eq!(bob.get("/orders").await.data(), json!([]));
}

async fn a_claim_before_or_after_the_owner_gets_nothing(kind: Kind) {
    let scene = Scene::open(kind, |_| {}).await;
    let (alice, bob) = (&scene.town.a, &scene.bob);
    scene.alice_connects(Getir, own_key()).await;
    scene.alice_becomes(Getir, "proven").await;
    // Neither the answer nor its state tells that somebody has the branch.
    let free = json!({ "remoteId": "nobody-has-this" });
    let free = bob.put(&scene.bobs(Getir), &free).await.data();
    let mut claimed = scene.bob_claims(Getir, json!({})).await;
    claimed["remoteId"] = free["remoteId"].clone();
    claimed["updatedAt"] = free["updatedAt"].clone();
    assert_eq!(claimed, free);
    scene.order_reaches(alice, bob, Getir).await;
    let wrong = json!({ "isActive": true, "credentials": { "restaurantSecretKey": "not-the-right-one" } });
    let active = scene.bob_claims(Getir, wrong).await;
    assert_eq!(
        (&active["isActive"], &active["branch"]),
        (&json!(true), &json!("unproven"))
    );
    scene.order_reaches(alice, bob, Getir).await;
    // The owner can be changed by nobody but the operator, but whoever has working credentials learns why nothing comes.
    let right = json!({ "credentials": own_key() });
    scene.bob_claims(Getir, right).await;
    scene.bob_becomes(Getir, "taken").await;
    scene.order_reaches(alice, bob, Getir).await;
}

async fn hundreds_of_claims_block_nobody(kind: Kind) {
    let scene = Scene::open(kind, |_| {}).await;
    let (alice, bob) = (&scene.town.a, &scene.bob);
    for n in 0..240 {
        let made = bob.post("/restaurants", &json!({ "name": "r" })).await.data();
        let path = format!("/restaurants/{}/integrations/getir", made["id"].as_str().unwrap());
        let branch = match n {
            0 => remote_id(Getir).to_owned(),
            n => format!("branch-{n}"),
        };
        bob.put(&path, &json!({ "remoteId": branch })).await.data();
    }
    let made = alice.post("/restaurants", &json!({ "name": "r" })).await.data();
    let path = format!("/restaurants/{}/integrations/getir", made["id"].as_str().unwrap());
    let named = alice
        .put(&path, &json!({ "remoteId": "branch-239" }))
        .await
        .data();
    assert_eq!(named["remoteId"], json!("branch-239"));
    scene.alice_connects(Getir, own_key()).await;
    scene.alice_becomes(Getir, "proven").await;
    scene.order_reaches(alice, bob, Getir).await;
}

async fn a_branch_is_proven_when_credentials_work_later(kind: Kind) {
    let scene = Scene::open(kind, |_| {}).await;
    scene
        .alice_connects(Getir, json!({ "restaurantSecretKey": "not-the-right-one" }))
        .await;
    scene.order_reaches_nobody(Getir).await;
    scene.alice_becomes(Getir, "unproven").await;
    scene.alice_connects(Getir, own_key()).await;
    scene.alice_becomes(Getir, "proven").await;
    scene.order_reaches(&scene.town.a, &scene.bob, Getir).await;
    // Another branch has to be proven anew.
    let other = json!({ "remoteId": "another" });
    let changed = scene.town.a.put(&scene.alices(Getir), &other).await.data();
    assert_eq!(changed["branch"], json!("unproven"));
}

async fn credentials_of_another_branch_prove_nothing(kind: Kind) {
    let scene = Scene::open(kind, |_| {}).await;
    // Bob has a restaurant on the platform too.
    let mut own = store(Getir, &format!("http://{}", scene.town.house.addr));
    own.remote_id = "bobs-own-branch".to_owned();
    own.credentials["restaurantSecretKey"] = json!("bobs-secret");
    own.credentials["inboundKey"] = json!("operator-knocks");
    scene.town.control.put_store(&own).await.unwrap();
    let credentials = json!({ "isActive": true, "credentials": { "restaurantSecretKey": "bobs-secret" } });
    scene.bob_claims(Getir, credentials).await;
    let app = &scene.town.house.app;
    let account = accounts::by_email(app, "second@example.com").await.unwrap().id;
    let tried = try_connection(app, account, scene.bobs.parse().unwrap(), "getir").await;
    assert_eq!(tried.unwrap(), Proof::Orders);
    scene.bob_becomes(Getir, "unproven").await;
    scene.order_reaches_nobody(Getir).await;
    scene
        .bob
        .put(&scene.bobs(Getir), &json!({ "remoteId": "bobs-own-branch" }))
        .await
        .data();
    scene.bob_becomes(Getir, "proven").await;
}

async fn the_operator_decides_who_owns_a_branch(kind: Kind) {
    let scene = Scene::open(kind, |_| {}).await;
    let (alice, bob) = (&scene.town.a, &scene.bob);
    // Without credentials of her own there is nothing that Alice could prove.
    for platform in [Getir, Yemeksepeti] {
        let named = json!({ "remoteId": remote_id(platform) });
        alice.put(&scene.alices(platform), &named).await.data();
        scene.bob_claims(platform, json!({})).await;
        scene.order_reaches_nobody(platform).await;
        scene.assign(platform, "first@example.com");
        scene.alice_becomes(platform, "proven").await;
        scene.order_reaches(alice, bob, platform).await;
        scene.assign(platform, "second@example.com");
        scene.order_reaches(bob, alice, platform).await;
        scene.alice_becomes(platform, "unproven").await;
    }
    let listed = scene.operator(&["branch", "list"]);
    let line = |claim: &str, email: &str| {
        listed.lines().any(|line| {
            line.starts_with(&format!("getir  {}  {claim}  ", remote_id(Getir))) && line.ends_with(email)
        })
    };
    assert!(line("proven", "second@example.com"), "{listed}");
    assert!(line("unproven", "first@example.com"), "{listed}");
    let released = [
        "branch",
        "release",
        "--provider",
        "getir",
        "--branch",
        remote_id(Getir),
    ];
    scene.operator(&released);
    scene.bob_becomes(Getir, "unproven").await;
    scene.order_reaches_nobody(Getir).await;
    assert!(!scene.town.house.command(&released).success);
    let nobodys = [
        "branch",
        "assign",
        "--provider",
        "getir",
        "--branch",
        "x",
        "--email",
        "first@example.com",
    ];
    assert!(!scene.town.house.command(&nobodys).success);
}

async fn the_operator_may_trust_the_first_claim(kind: Kind) {
    let scene = Scene::open(kind, |settings| settings.trust_branch_claims = true).await;
    let named = json!({ "remoteId": remote_id(Getir) });
    let claimed = scene.town.a.put(&scene.alices(Getir), &named).await.data();
    assert_eq!(claimed["branch"], json!("proven"));
    assert_eq!(
        scene.bob_claims(Getir, json!({})).await["branch"],
        json!("unproven")
    );
    scene.order_reaches(&scene.town.a, &scene.bob, Getir).await;
}

async fn a_deleted_integration_leaves_its_branch_to_whoever_proves_it(kind: Kind) {
    let scene = Scene::open(kind, |_| {}).await;
    scene.alice_connects(Getir, own_key()).await;
    scene.alice_becomes(Getir, "proven").await;
    scene.bob_claims(Getir, json!({})).await;
    scene.town.a.delete(&scene.alices(Getir)).await.done();
    scene.order_reaches_nobody(Getir).await;
    scene.bob_becomes(Getir, "unproven").await;
    scene
        .bob_claims(Getir, json!({ "isActive": true, "credentials": own_key() }))
        .await;
    scene.bob_becomes(Getir, "proven").await;
    scene.order_reaches(&scene.bob, &scene.town.a, Getir).await;
}

async fn the_operators_credentials_are_not_used_to_poll_for_a_claim(kind: Kind) {
    let poll_migros = |settings: &mut garson::config::Settings| {
        settings.platforms.get_mut("migros").unwrap().poll_seconds = 3_600;
    };
    let scene = Scene::open(kind, poll_migros).await;
    let mut silent = store(Migros, "http://127.0.0.1:1");
    silent.hook_url = None;
    scene.town.control.put_store(&silent).await.unwrap();
    scene.bob_claims(Migros, json!({ "isActive": true })).await;
    let own = json!({ "apiKey": "branch-key", "secretKey": "0123456789abcdef0123456789abcdef" });
    scene.alice_connects(Migros, own).await;
    let meal = scene.order(Migros).await;
    scene.town.poll().await;
    until("the order is fetched", async || has(&scene.town.a, &meal).await).await;
    scene.alice_becomes(Migros, "proven").await;
    scene.town.poll().await;
    assert!(!has(&scene.bob, &meal).await);
}

async fn kept_messages_are_not_handed_to_a_claim(kind: Kind) {
    let scene = Scene::open(kind, |_| {}).await;
    let meal = scene.order_reaches_nobody(Getir).await;
    let kept = scene.town.house.kept().await;
    scene.bob_claims(Getir, json!({})).await;
    garson::flow::intake::inbox_retry::retry(&scene.town.house.app, kept[0].id)
        .await
        .unwrap();
    assert!(!has(&scene.bob, &meal).await);
    scene.alice_connects(Getir, own_key()).await;
    scene.alice_becomes(Getir, "proven").await;
    garson::flow::intake::inbox_retry::retry(&scene.town.house.app, kept[0].id)
        .await
        .unwrap();
    assert!(has(&scene.town.a, &meal).await);
}

/// What one node remembers of an owner does not outlive a decision that is made beside it.
#[test]
fn a_decision_counts_on_every_node() {
    crate::support::block_on(async {
        let scene = Scene::open(Kind::Postgres, |_| {}).await;
        let base = format!("{}/yemeksepeti", scene.town.url);
        let settings = [
            ("GARSON_RATE_LIMIT", "off"),
            ("GARSON_PLATFORMS__YEMEKSEPETI__BASE_URL", base.as_str()),
            ("GARSON_PLATFORMS__YEMEKSEPETI__USERNAME", "user"),
            ("GARSON_PLATFORMS__YEMEKSEPETI__PASSWORD", "pa&ss-word"),
            ("GARSON_PLATFORMS__YEMEKSEPETI__CHAIN_CODE", "chain"),
            ("GARSON_PLATFORMS__YEMEKSEPETI__PLUGIN_SECRET", "operator-plugin"),
        ];
        let mut second = Program::serve(scene.town.house.home(), &settings);
        let nodes = [
            format!("http://{}", scene.town.house.addr),
            format!("http://{}", second.address().await),
        ];
        let (alice, bob) = (&scene.town.a, &scene.bob);
        let named = json!({ "remoteId": remote_id(Yemeksepeti) });
        alice.put(&scene.alices(Yemeksepeti), &named).await.data();
        scene.bob_claims(Yemeksepeti, json!({})).await;
        for (email, owner, other) in [
            ("first@example.com", alice, bob),
            ("second@example.com", bob, alice),
            ("first@example.com", alice, bob),
        ] {
            scene.assign(Yemeksepeti, email);
            for node in &nodes {
                scene.platforms_knock_at(node).await;
                scene.order_reaches(owner, other, Yemeksepeti).await;
            }
        }
    });
}
