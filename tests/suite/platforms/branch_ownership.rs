//! Which account owns a branch. Where the operator's credentials open all branches, a branch belongs to the account whose own
//! credentials have worked on the platform, or that the operator has chosen. A claim alone gives nothing and blocks nothing.

use crate::support::{
    ApiClient, Backend, PlatformOrder, PlatformWorld, Program, disable_polling, fast_sim_settings, remote_id,
    store, wait_until,
};
use garson::flow::admin::accounts;
use garson::flow::admin::connection_test::{Proof, try_connection};
use garson_core::secret::Secret;
use garson_sim::Platform::{self, Getir, Migros, Yemeksepeti};
use garson_sim::views::{Courier, OrderRequest};
use serde_json::{Value, json};

on_both! {
    push_goes_to_the_proven_owner_of_the_branch
    unproven_claim_gets_nothing
    hundreds_of_claims_do_not_block_the_owner
    branch_is_proven_when_credentials_work_later
    credentials_of_another_branch_prove_nothing
    operator_assigns_a_branch
    operator_can_trust_the_first_claim
    deleted_integration_frees_its_branch
    operator_credentials_do_not_poll_for_an_unproven_claim
    stored_messages_are_not_given_to_an_unproven_claim
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

/// A world whose operator has credentials for all restaurants, with Alice's restaurant and Bob's.
struct Setup {
    world: PlatformWorld,
    bob: ApiClient,
    bobs: String,
}

impl Setup {
    async fn open(backend: Backend, change: impl FnOnce(&mut garson::config::Settings)) -> Self {
        let world = PlatformWorld::open_with(backend, fast_sim_settings(), |settings| {
            disable_polling(settings);
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
            let path = format!("/restaurants/{}/integrations/{platform}", world.restaurant);
            world.a.delete(&path).await.done();
        }
        let bob = world.service.b.clone();
        let made = bob.post("/restaurants", &json!({ "name": "Bob" })).await.data();
        let setup = Self {
            bobs: made["id"].as_str().unwrap().to_owned(),
            bob,
            world,
        };
        setup
            .platforms_knock_at(&format!("http://{}", setup.world.service.addr))
            .await;
        setup
    }

    /// The platforms push with the operator's secrets.
    async fn platforms_knock_at(&self, url: &str) {
        let mut getir = store(Getir, url);
        getir.credentials["inboundKey"] = json!("operator-knocks");
        let mut yemeksepeti = store(Yemeksepeti, url);
        yemeksepeti.credentials["pluginSecret"] = json!("operator-plugin");
        for store in [getir, yemeksepeti] {
            self.world.control.put_store(&store).await.unwrap();
        }
    }

    fn alices(&self, platform: Platform) -> String {
        format!("/restaurants/{}/integrations/{platform}", self.world.restaurant)
    }

    fn bobs(&self, platform: Platform) -> String {
        format!("/restaurants/{}/integrations/{platform}", self.bobs)
    }

    async fn alice_connects(&self, platform: Platform, credentials: Value) {
        self.world.connect(platform, &credentials).await.data();
    }

    async fn bob_claims(&self, platform: Platform, more: Value) -> Value {
        let mut body = json!({ "remoteId": remote_id(platform) });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        self.bob.put(&self.bobs(platform), &body).await.data()
    }

    async fn order(&self, platform: Platform) -> PlatformOrder {
        let request = OrderRequest {
            courier: Some(Courier::Restaurant),
            remote_id: Some(remote_id(platform).to_owned()),
            ..OrderRequest::new(platform)
        };
        self.world.place(request).await
    }

    async fn alice_becomes(&self, platform: Platform, claim: &str) {
        becomes(&self.world.a, &self.alices(platform), claim).await;
    }

    async fn bob_becomes(&self, platform: Platform, claim: &str) {
        becomes(&self.bob, &self.bobs(platform), claim).await;
    }

    /// An order is pushed, reaches this account and not the other.
    async fn order_reaches(&self, owner: &ApiClient, other: &ApiClient, platform: Platform) {
        let placed = self.order(platform).await;
        wait_until("the order arrives", async || has(owner, &placed).await).await;
        assert!(!has(other, &placed).await);
    }

    /// An order is pushed until the platform gives up, without reaching an account.
    async fn order_reaches_nobody(&self, platform: Platform) -> PlatformOrder {
        let placed = self.order(platform).await;
        wait_until("it knocks", async || {
            !self.world.view(&placed).await.pushes.is_empty()
        })
        .await;
        assert!(!self.world.service.open_messages().await.is_empty());
        for account in [&self.world.a, &self.bob] {
            assert!(!has(account, &placed).await);
        }
        placed
    }

    fn operator(&self, arguments: &[&str]) -> String {
        let outcome = self.world.service.command(arguments);
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

async fn becomes(client: &ApiClient, path: &str, claim: &str) {
    wait_until("the branch is proven or not", async || {
        client.get(path).await.data()["branch"] == json!(claim)
    })
    .await;
}

async fn has(client: &ApiClient, placed: &PlatformOrder) -> bool {
    let orders = client.get("/orders?limit=200").await.data();
    orders
        .as_array()
        .unwrap()
        .iter()
        .any(|order| order["providerOrderId"] == json!(placed.id))
}

fn own_key() -> Value {
    json!({ "restaurantSecretKey": "restaurant-secret" })
}

async fn push_goes_to_the_proven_owner_of_the_branch(backend: Backend) {
    let setup = Setup::open(backend, |_| {}).await;
    let (alice, bob) = (&setup.world.a, &setup.bob);
    let claimed = setup.bob_claims(Getir, json!({})).await;
    assert_eq!(claimed["branch"], json!("unproven"));
    setup.alice_connects(Getir, own_key()).await;
    setup.alice_becomes(Getir, "proven").await;
    setup.order_reaches(alice, bob, Getir).await;
    // Where the platform names the branch in the address, and its log-in is the account's own.
    setup
        .bob_claims(
            Yemeksepeti,
            json!({ "credentials": { "pluginSecret": "bobs-own-secret" } }),
        )
        .await;
    let own = json!({ "username": "user", "password": "pa&ss-word", "chainCode": "chain" });
    setup.alice_connects(Yemeksepeti, own).await;
    setup.alice_becomes(Yemeksepeti, "proven").await;
    setup.order_reaches(alice, bob, Yemeksepeti).await;
    assert_eq!(
        bob.get(&setup.bobs(Getir)).await.data()["branch"],
        json!("unproven")
    );
    assert_eq!(bob.get("/orders").await.data(), json!([]));
}

async fn unproven_claim_gets_nothing(backend: Backend) {
    let setup = Setup::open(backend, |_| {}).await;
    let (alice, bob) = (&setup.world.a, &setup.bob);
    setup.alice_connects(Getir, own_key()).await;
    setup.alice_becomes(Getir, "proven").await;
    // Neither the response nor the state discloses that the branch has an owner.
    let free = json!({ "remoteId": "nobody-has-this" });
    let free = bob.put(&setup.bobs(Getir), &free).await.data();
    let mut claimed = setup.bob_claims(Getir, json!({})).await;
    claimed["remoteId"] = free["remoteId"].clone();
    claimed["updatedAt"] = free["updatedAt"].clone();
    assert_eq!(claimed, free);
    setup.order_reaches(alice, bob, Getir).await;
    let wrong = json!({ "isActive": true, "credentials": { "restaurantSecretKey": "not-the-right-one" } });
    let active = setup.bob_claims(Getir, wrong).await;
    assert_eq!(
        (&active["isActive"], &active["branch"]),
        (&json!(true), &json!("unproven"))
    );
    setup.order_reaches(alice, bob, Getir).await;
    // Only the operator can change the owner, but an account with working credentials learns why no orders arrive.
    let right = json!({ "credentials": own_key() });
    setup.bob_claims(Getir, right).await;
    setup.bob_becomes(Getir, "taken").await;
    setup.order_reaches(alice, bob, Getir).await;
}

async fn hundreds_of_claims_do_not_block_the_owner(backend: Backend) {
    let setup = Setup::open(backend, |_| {}).await;
    let (alice, bob) = (&setup.world.a, &setup.bob);
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
    setup.alice_connects(Getir, own_key()).await;
    setup.alice_becomes(Getir, "proven").await;
    setup.order_reaches(alice, bob, Getir).await;
}

async fn branch_is_proven_when_credentials_work_later(backend: Backend) {
    let setup = Setup::open(backend, |_| {}).await;
    setup
        .alice_connects(Getir, json!({ "restaurantSecretKey": "not-the-right-one" }))
        .await;
    setup.order_reaches_nobody(Getir).await;
    setup.alice_becomes(Getir, "unproven").await;
    setup.alice_connects(Getir, own_key()).await;
    setup.alice_becomes(Getir, "proven").await;
    setup.order_reaches(&setup.world.a, &setup.bob, Getir).await;
    // Another branch has to be proven anew.
    let other = json!({ "remoteId": "another" });
    let changed = setup.world.a.put(&setup.alices(Getir), &other).await.data();
    assert_eq!(changed["branch"], json!("unproven"));
}

async fn credentials_of_another_branch_prove_nothing(backend: Backend) {
    let setup = Setup::open(backend, |_| {}).await;
    // Bob has a restaurant on the platform too.
    let mut own = store(Getir, &format!("http://{}", setup.world.service.addr));
    own.remote_id = "bobs-own-branch".to_owned();
    own.credentials["restaurantSecretKey"] = json!("bobs-secret");
    own.credentials["inboundKey"] = json!("operator-knocks");
    setup.world.control.put_store(&own).await.unwrap();
    let credentials = json!({ "isActive": true, "credentials": { "restaurantSecretKey": "bobs-secret" } });
    setup.bob_claims(Getir, credentials).await;
    let app = &setup.world.service.app;
    let account = accounts::by_email(app, "second@example.com").await.unwrap().id;
    let tried = try_connection(app, account, setup.bobs.parse().unwrap(), "getir").await;
    assert_eq!(tried.unwrap(), Proof::Orders);
    setup.bob_becomes(Getir, "unproven").await;
    setup.order_reaches_nobody(Getir).await;
    setup
        .bob
        .put(&setup.bobs(Getir), &json!({ "remoteId": "bobs-own-branch" }))
        .await
        .data();
    setup.bob_becomes(Getir, "proven").await;
}

async fn operator_assigns_a_branch(backend: Backend) {
    let setup = Setup::open(backend, |_| {}).await;
    let (alice, bob) = (&setup.world.a, &setup.bob);
    // Without credentials of her own there is nothing that Alice could prove.
    for platform in [Getir, Yemeksepeti] {
        let named = json!({ "remoteId": remote_id(platform) });
        alice.put(&setup.alices(platform), &named).await.data();
        setup.bob_claims(platform, json!({})).await;
        setup.order_reaches_nobody(platform).await;
        setup.assign(platform, "first@example.com");
        setup.alice_becomes(platform, "proven").await;
        setup.order_reaches(alice, bob, platform).await;
        setup.assign(platform, "second@example.com");
        setup.order_reaches(bob, alice, platform).await;
        setup.alice_becomes(platform, "unproven").await;
    }
    let listed = setup.operator(&["branch", "list"]);
    let line = |claim: &str, email: &str| {
        listed.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.starts_with(&["getir", remote_id(Getir), claim]) && words.ends_with(&[email])
        })
    };
    assert!(line("proven", "second@example.com"), "{listed}");
    assert!(line("unproven", "first@example.com"), "{listed}");
    let as_json = setup.operator(&["branch", "list", "--json"]);
    let proven = as_json
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let proven = proven
        .filter(|it| it["provider"] == "getir" && it["claim"] == "proven")
        .collect::<Vec<_>>();
    assert!(
        proven.iter().any(|it| it["account"] == "second@example.com"),
        "{as_json}"
    );
    let released = [
        "branch",
        "release",
        "--provider",
        "getir",
        "--branch",
        remote_id(Getir),
    ];
    setup.operator(&released);
    setup.bob_becomes(Getir, "unproven").await;
    setup.order_reaches_nobody(Getir).await;
    assert!(!setup.world.service.command(&released).success);
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
    assert!(!setup.world.service.command(&nobodys).success);
}

async fn operator_can_trust_the_first_claim(backend: Backend) {
    let setup = Setup::open(backend, |settings| settings.trust_branch_claims = true).await;
    let named = json!({ "remoteId": remote_id(Getir) });
    let claimed = setup.world.a.put(&setup.alices(Getir), &named).await.data();
    assert_eq!(claimed["branch"], json!("proven"));
    assert_eq!(
        setup.bob_claims(Getir, json!({})).await["branch"],
        json!("unproven")
    );
    setup.order_reaches(&setup.world.a, &setup.bob, Getir).await;
}

async fn deleted_integration_frees_its_branch(backend: Backend) {
    let setup = Setup::open(backend, |_| {}).await;
    setup.alice_connects(Getir, own_key()).await;
    setup.alice_becomes(Getir, "proven").await;
    setup.bob_claims(Getir, json!({})).await;
    setup.world.a.delete(&setup.alices(Getir)).await.done();
    setup.order_reaches_nobody(Getir).await;
    setup.bob_becomes(Getir, "unproven").await;
    setup
        .bob_claims(Getir, json!({ "isActive": true, "credentials": own_key() }))
        .await;
    setup.bob_becomes(Getir, "proven").await;
    setup.order_reaches(&setup.bob, &setup.world.a, Getir).await;
}

async fn operator_credentials_do_not_poll_for_an_unproven_claim(backend: Backend) {
    let poll_migros = |settings: &mut garson::config::Settings| {
        settings.platforms.get_mut("migros").unwrap().poll_seconds = 3_600;
    };
    let setup = Setup::open(backend, poll_migros).await;
    let mut silent = store(Migros, "http://127.0.0.1:1");
    silent.hook_url = None;
    setup.world.control.put_store(&silent).await.unwrap();
    setup.bob_claims(Migros, json!({ "isActive": true })).await;
    let own = json!({ "apiKey": "branch-key", "secretKey": "0123456789abcdef0123456789abcdef" });
    setup.alice_connects(Migros, own).await;
    let placed = setup.order(Migros).await;
    setup.world.poll().await;
    wait_until("the order is fetched", async || {
        has(&setup.world.a, &placed).await
    })
    .await;
    setup.alice_becomes(Migros, "proven").await;
    setup.world.poll().await;
    assert!(!has(&setup.bob, &placed).await);
}

async fn stored_messages_are_not_given_to_an_unproven_claim(backend: Backend) {
    let setup = Setup::open(backend, |_| {}).await;
    let placed = setup.order_reaches_nobody(Getir).await;
    let kept = setup.world.service.open_messages().await;
    setup.bob_claims(Getir, json!({})).await;
    garson::flow::intake::inbox_retry::retry(&setup.world.service.app, kept[0].id)
        .await
        .unwrap();
    assert!(!has(&setup.bob, &placed).await);
    setup.alice_connects(Getir, own_key()).await;
    setup.alice_becomes(Getir, "proven").await;
    garson::flow::intake::inbox_retry::retry(&setup.world.service.app, kept[0].id)
        .await
        .unwrap();
    assert!(has(&setup.world.a, &placed).await);
}

/// What one node remembers of an owner does not outlive a decision that is made beside it.
#[test]
fn branch_assignment_applies_on_every_node() {
    crate::support::block_on(async {
        let setup = Setup::open(Backend::Postgres, |_| {}).await;
        let base = format!("{}/yemeksepeti", setup.world.url);
        let settings = [
            ("GARSON_RATE_LIMIT", "off"),
            ("GARSON_PLATFORMS__YEMEKSEPETI__BASE_URL", base.as_str()),
            ("GARSON_PLATFORMS__YEMEKSEPETI__USERNAME", "user"),
            ("GARSON_PLATFORMS__YEMEKSEPETI__PASSWORD", "pa&ss-word"),
            ("GARSON_PLATFORMS__YEMEKSEPETI__CHAIN_CODE", "chain"),
            ("GARSON_PLATFORMS__YEMEKSEPETI__PLUGIN_SECRET", "operator-plugin"),
        ];
        let mut second = Program::serve(setup.world.service.storage(), &settings);
        let nodes = [
            format!("http://{}", setup.world.service.addr),
            format!("http://{}", second.address().await),
        ];
        let (alice, bob) = (&setup.world.a, &setup.bob);
        let named = json!({ "remoteId": remote_id(Yemeksepeti) });
        alice.put(&setup.alices(Yemeksepeti), &named).await.data();
        setup.bob_claims(Yemeksepeti, json!({})).await;
        for (email, owner, other) in [
            ("first@example.com", alice, bob),
            ("second@example.com", bob, alice),
            ("first@example.com", alice, bob),
        ] {
            setup.assign(Yemeksepeti, email);
            for node in &nodes {
                setup.platforms_knock_at(node).await;
                setup.order_reaches(owner, other, Yemeksepeti).await;
            }
        }
    });
}
