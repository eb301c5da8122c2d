//! Lists while deleted restaurants are swept: they hold exactly the orders of the remaining restaurants, newest first, each once.

use crate::support::{ApiClient, Shop, TestService};
use garson::flow::admin::accounts;
use garson_core::id::{AccountId, RestaurantId};
use garson_store::tables::restaurants;
use garson_store::upkeep::sweep;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeSet;
use tokio::runtime::Handle;

cases! {
    lists_hold_exactly_the_remaining_orders
}

const RESTAURANTS: usize = 4;
/// Each takes a fresh account and some hundred requests.
const CASES: u32 = 12;

#[derive(Clone, Debug)]
enum Step {
    /// So many orders of a restaurant, unless it is deleted.
    Orders(usize, usize),
    /// The restaurant is deleted; nothing of it is removed yet.
    Delete(usize),
    /// So many rows of a deleted restaurant are removed.
    Sweep(usize, i64),
    /// Both lists are read with this limit, in both directions.
    Look(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let any_restaurant = 0..RESTAURANTS;
    prop_oneof![
        6 => (any_restaurant.clone(), 1_usize..5).prop_map(|(of, count)| Step::Orders(of, count)),
        2 => any_restaurant.clone().prop_map(Step::Delete),
        2 => (any_restaurant, 1_i64..6).prop_map(|(of, rows)| Step::Sweep(of, rows)),
        1 => (1_usize..8).prop_map(Step::Look),
    ]
}

async fn lists_hold_exactly_the_remaining_orders(service: TestService) {
    let config = Config {
        cases: CASES,
        failure_persistence: None,
        max_shrink_iters: 64,
        ..Config::default()
    };
    let steps = (prop::collection::vec(step(), 4..24), 1_usize..12);
    let runtime = Handle::current();
    let number = Cell::new(0);
    tokio::task::block_in_place(|| {
        TestRunner::new(config)
            .run(&steps, |(steps, limit)| {
                number.set(number.get() + 1);
                runtime.block_on(run(&service, number.get(), &steps, limit));
                Ok(())
            })
            .unwrap();
    });
}

/// An account, its restaurants, and what its lists should hold.
struct Setup<'a> {
    service: &'a TestService,
    account: AccountId,
    client: ApiClient,
    shops: Vec<Shop>,
    deleted: BTreeSet<usize>,
    /// All orders that were ever taken, oldest first, each with its restaurant.
    taken: Vec<(usize, String)>,
}

async fn run(service: &TestService, number: usize, steps: &[Step], last_limit: usize) {
    let mut setup = Setup::open(service, number).await;
    for step in steps {
        match *step {
            Step::Orders(of, count) => setup.order(of, count).await,
            Step::Delete(of) => setup.delete(of).await,
            Step::Sweep(of, rows) => setup.sweep(of, rows).await,
            Step::Look(limit) => setup.check(limit).await,
        }
    }
    for limit in [1, last_limit, 200] {
        setup.check(limit).await;
    }
    setup.check_filters(last_limit).await;
}

impl<'a> Setup<'a> {
    async fn open(service: &'a TestService, number: usize) -> Self {
        let email = format!("account-{number}@example.com");
        let (account, key) = accounts::create(&service.app, "Account".to_owned(), &email, None)
            .await
            .unwrap();
        let client = ApiClient {
            addr: service.addr,
            key: key.secret.expose().clone(),
        };
        let mut shops = Vec::new();
        for n in 0..RESTAURANTS {
            shops.push(service.shop(&client, &format!("{number}-{n}")).await);
        }
        Self {
            service,
            account: account.id,
            client,
            shops,
            deleted: BTreeSet::new(),
            taken: Vec::new(),
        }
    }

    async fn order(&mut self, of: usize, count: usize) {
        if self.deleted.contains(&of) {
            return;
        }
        for _ in 0..count {
            let id = format!("order-{}", self.taken.len());
            self.shops[of].order(&id).await;
            self.taken.push((of, id));
        }
    }

    fn restaurant(&self, of: usize) -> RestaurantId {
        self.shops[of].restaurant.parse().unwrap()
    }

    /// Past the API, which would have it swept at once.
    async fn delete(&mut self, of: usize) {
        let (account, restaurant, now) = (self.account, self.restaurant(of), self.service.app.now());
        self.service
            .app
            .store
            .write(account, move |tx| {
                restaurants::delete(tx, account, restaurant, now)
            })
            .await
            .unwrap();
        self.deleted.insert(of);
    }

    async fn sweep(&mut self, of: usize, rows: i64) {
        if !self.deleted.contains(&of) {
            return;
        }
        let (account, restaurant) = (self.account, self.restaurant(of));
        self.service
            .app
            .store
            .write(account, move |tx| {
                sweep::remove_chunk(tx, account, restaurant, rows)
            })
            .await
            .unwrap();
    }

    /// The orders that a list should hold, newest first.
    fn expected(&self, only: Option<usize>) -> Vec<String> {
        self.taken
            .iter()
            .rev()
            .filter(|(of, _)| !self.deleted.contains(of) && only.is_none_or(|only| only == *of))
            .map(|(_, id)| id.clone())
            .collect()
    }

    async fn check(&self, limit: usize) {
        let mut lists = vec![
            ("/orders?".to_owned(), self.expected(None)),
            ("/orders/reports/pending?".to_owned(), self.expected(None)),
            (
                "/orders/reports/pending?status=400,500&".to_owned(),
                self.expected(None),
            ),
        ];
        for of in (0..RESTAURANTS).filter(|of| !self.deleted.contains(of)) {
            let list = format!("/orders?restaurantId={}&", self.shops[of].restaurant);
            lists.push((list, self.expected(Some(of))));
        }
        self.walk_all(lists, limit).await;
    }

    /// Lists that are narrowed.
    async fn check_filters(&self, limit: usize) {
        let mut lists = Vec::new();
        for filter in [
            "open=true",
            "status=400,500,1600",
            "provider=direct&from=2026-01-01",
            "include=detail",
        ] {
            lists.push((format!("/orders?{filter}&"), self.expected(None)));
        }
        // Nothing has changed since it arrived, so both have the same order.
        for filter in ["", "&open=true", "&provider=getir,direct&include=detail"] {
            lists.push((
                format!("/orders?updatedSince=2026-01-01T00:00:00Z{filter}&"),
                self.expected(None),
            ));
        }
        for filter in [
            "open=false",
            "status=900",
            "provider=getir",
            "updatedSince=2100-01-01",
        ] {
            lists.push((format!("/orders?{filter}&"), Vec::new()));
        }
        self.walk_all(lists, limit).await;
    }

    async fn walk_all(&self, lists: Vec<(String, Vec<String>)>, limit: usize) {
        for (list, expected) in lists {
            assert_eq!(
                self.walk_down(&list, limit).await,
                expected,
                "{list} down by {limit}"
            );
            assert_eq!(self.walk_up(&list, limit).await, expected, "{list} up by {limit}");
        }
    }

    async fn page(&self, list: &str, limit: usize, rest: &str) -> Value {
        let page = self
            .client
            .get(&format!("{list}limit={limit}{rest}"))
            .await
            .success();
        assert!(page["data"].as_array().unwrap().len() <= limit, "{page}");
        page
    }

    async fn walk_down(&self, list: &str, limit: usize) -> Vec<String> {
        let mut page = self.page(list, limit, "").await;
        let mut walked = ids(&page);
        while let Some(next) = page["paging"]["next"].as_str() {
            page = self.page(list, limit, &format!("&cursor={next}")).await;
            walked.extend(ids(&page));
            assert!(walked.len() <= self.taken.len(), "{list} repeats: {walked:?}");
        }
        walked
    }

    async fn walk_up(&self, list: &str, limit: usize) -> Vec<String> {
        let mut page = self.page(list, limit, "&dir=prev").await;
        let mut walked = ids(&page);
        while !ids(&page).is_empty() {
            let prev = page["paging"]["prev"].as_str().unwrap().to_owned();
            page = self.page(list, limit, &format!("&dir=prev&cursor={prev}")).await;
            walked.splice(0..0, ids(&page));
            assert!(walked.len() <= self.taken.len(), "{list} repeats: {walked:?}");
        }
        walked
    }
}

fn ids(page: &Value) -> Vec<String> {
    let items = page["data"].as_array().unwrap();
    items
        .iter()
        .map(|order| order["providerOrderId"].as_str().unwrap().to_owned())
        .collect()
}
