//! Lists of orders filter by status, platform, period and last change, compared with a plain look at all orders.

use crate::database::Bench;
use crate::fixtures::{Branch, DIRECT, at, take_order_from};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::order::{Actor, Flag, Order, ProviderSync, Status, TimelineLine, TimelineReason};
use garson_core::platform::Provider;
use garson_core::testing::a_new_order;
use garson_core::time::Timestamp;
use garson_store::lists::feed;
use garson_store::lists::feed::{Direction, Page, PageRequest, Scope};
use garson_store::lists::order_changes::Changes;
use garson_store::lists::orders::OrderFilter;
use garson_store::tables::{accounts, order_flags, orders, restaurants};
use garson_store::upkeep::sweep;
use std::collections::BTreeSet;

const PROVIDERS: [Provider; 3] = [DIRECT, Provider::new("getir"), Provider::new("migros")];
const ORDERS: usize = 70;
const QUESTIONS: usize = 60;

/// Numbers without a pattern, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % u64::try_from(limit).unwrap()).unwrap()
    }

    fn some_of<T: Copy>(&mut self, all: &[T]) -> Vec<T> {
        all.iter().copied().filter(|_| self.below(3) == 0).collect()
    }
}

/// An order with the place of its last change.
#[derive(Clone, Debug)]
struct Taken {
    order: Order,
    changed: i64,
}

/// Takes an order, and changes and stamps some of those that were there.
async fn happen(bench: &Bench, branches: &[Branch], taken: &mut Vec<Taken>, numbers: &mut Numbers) {
    let (branch, provider) = (
        branches[numbers.below(branches.len())],
        PROVIDERS[numbers.below(3)],
    );
    let name = format!("S-{}", taken.len());
    let now = at(i64::try_from(taken.len() / 4 * 1_000).unwrap());
    let order = bench
        .engine
        .write(branch.account, move |tx| {
            take_order_from(tx, branch, provider, &a_new_order(&name), now)
        })
        .await
        .unwrap();
    let id = order.id;
    let changed = bench
        .read(move |tx| {
            let sql = "SELECT changed FROM orders WHERE id = ?1";
            tx.query_one(sql, garson_store::params![&id], |row| row.get(0))
        })
        .await;
    taken.push(Taken { order, changed });
    for _ in 0..numbers.below(3) {
        let at = numbers.below(taken.len());
        let status = Status::ALL[numbers.below(Status::ALL.len())];
        let is_stamped = numbers.below(3) == 0;
        let it = taken[at].clone();
        taken[at] = bench
            .engine
            .write(branch.account, move |tx| {
                let mut it = it.clone();
                let mut places = accounts::reserve_positions(tx, it.order.account_id, 3, now)?;
                let (moment, place) = (places.at, places.take());
                if is_stamped && it.order.reported_at.is_none() {
                    orders::mark_reported(tx, it.order.id, moment, place)?;
                    it.order.reported_at = Some(moment);
                } else {
                    it.order.status = status;
                    it.order.updated_at = moment;
                    orders::update(tx, &it.order, place)?;
                }
                it.order.updated_at = moment;
                it.changed = place;
                Ok::<_, garson_store::StoreError>(it)
            })
            .await
            .unwrap();
    }
}

#[derive(Clone, Debug)]
struct Question {
    account: AccountId,
    restaurant: Option<RestaurantId>,
    filter: Option<OrderFilter>,
    period: (Option<Timestamp>, Option<Timestamp>),
    since: Option<Timestamp>,
}

impl Question {
    fn any(account: AccountId, restaurants: &[RestaurantId], numbers: &mut Numbers) -> Self {
        let moment = |numbers: &mut Numbers| {
            (numbers.below(3) == 0).then(|| at(i64::try_from(numbers.below(ORDERS * 300)).unwrap()))
        };
        let statuses = numbers.some_of(&Status::ALL);
        let providers = numbers.some_of(&PROVIDERS);
        let filter = (numbers.below(4) > 0).then(|| OrderFilter {
            statuses: if statuses.is_empty() {
                Status::ALL.to_vec()
            } else {
                statuses
            },
            providers: if providers.is_empty() {
                PROVIDERS.to_vec()
            } else {
                providers
            },
        });
        Self {
            account,
            restaurant: (numbers.below(3) == 0).then(|| restaurants[numbers.below(restaurants.len())]),
            filter,
            period: (moment(numbers), moment(numbers)),
            since: moment(numbers),
        }
    }

    fn expected(&self, taken: &[Taken], deleted: &BTreeSet<RestaurantId>) -> Vec<OrderId> {
        let mut found: Vec<(usize, &Taken)> = taken
            .iter()
            .enumerate()
            .filter(|(_, Taken { order: it, .. })| {
                !deleted.contains(&it.restaurant_id)
                    && self.restaurant.is_none_or(|only| only == it.restaurant_id)
                    && self.filter.as_ref().is_none_or(|filter| {
                        filter.statuses.contains(&it.status) && filter.providers.contains(&it.provider)
                    })
                    && self.period.0.is_none_or(|from| it.created_at >= from)
                    && self.period.1.is_none_or(|to| it.created_at < to)
                    && self.since.is_none_or(|since| it.updated_at >= since)
            })
            .collect();
        match self.since {
            Some(_) => found.sort_by_key(|(_, it)| -it.changed),
            None => found.reverse(),
        }
        found.into_iter().map(|(_, it)| it.order.id).collect()
    }

    async fn page(&self, bench: &Bench, request: PageRequest) -> Page<OrderId> {
        let it = self.clone();
        bench
            .read(move |tx| {
                let (from, to) = it.period;
                let Some(between) = feed::positions_between(tx, it.account, from, to)? else {
                    return Ok(Page::empty(request));
                };
                let Some(since) = it.since else {
                    let scope = it
                        .restaurant
                        .map_or(Scope::Account(it.account), Scope::Restaurant);
                    let filter = it.filter.as_ref();
                    return garson_store::lists::orders::list_filtered(
                        tx,
                        scope,
                        filter,
                        between,
                        request,
                        |_, id, _| id,
                    );
                };
                let changes = Changes {
                    since,
                    restaurant: it.restaurant,
                    filter: it.filter.as_ref(),
                    between,
                };
                garson_store::lists::order_changes::list_changed(tx, it.account, &changes, request, |order| {
                    assert!(order.updated_at >= since);
                    order.id
                })
            })
            .await
    }

    async fn walk(&self, bench: &Bench, limit: usize, direction: Direction) -> Vec<OrderId> {
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let request = PageRequest {
                limit,
                cursor,
                direction,
            };
            let page = self.page(bench, request).await;
            assert!(page.items.len() <= limit);
            assert!(all.len() <= ORDERS, "{self:?} repeats");
            match direction {
                Direction::Older => {
                    all.extend(page.items);
                    cursor = page.next;
                    if cursor.is_none() {
                        return all;
                    }
                }
                Direction::Newer => {
                    let is_empty = page.items.is_empty();
                    all.splice(0..0, page.items);
                    cursor = page.prev;
                    if is_empty {
                        return all;
                    }
                }
            }
        }
    }
}

pub async fn order_list_filters_agree_with_a_full_scan(bench: &Bench) {
    let mut numbers = Numbers(13);
    let first = bench.branch("lokanta").await;
    let mut branches = vec![first];
    for _ in 0..3 {
        branches.push(bench.branch_of(first.account).await);
    }
    let stranger = bench.branch("yabanci").await;
    bench.orders(stranger, "X", 5).await;
    let mut taken = Vec::new();
    for _ in 0..ORDERS {
        happen(bench, &branches, &mut taken, &mut numbers).await;
    }
    let (account, closing) = (first.account, branches[3].restaurant);
    let here: Vec<RestaurantId> = branches[..3].iter().map(|it| it.restaurant).collect();
    let mut deleted = BTreeSet::new();
    for is_swept in [false, true] {
        if is_swept {
            bench
                .write(move |tx| {
                    restaurants::delete(tx, account, closing, at(1_000_000))?;
                    sweep::remove_chunk(tx, account, closing, 3)
                })
                .await;
            deleted.insert(closing);
        }
        for _ in 0..QUESTIONS {
            let question = Question::any(account, &here, &mut numbers);
            let expected = question.expected(&taken, &deleted);
            for direction in [Direction::Older, Direction::Newer] {
                let limit = [1, 2, 5, 200][numbers.below(4)];
                assert_eq!(
                    question.walk(bench, limit, direction).await,
                    expected,
                    "{question:?} by {limit} {direction:?}, swept: {is_swept}"
                );
            }
        }
    }
}

pub async fn changed_order_appears_after_every_cursor(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let taken = bench.orders(branch, "S", 6).await;
    let question = Question {
        account: branch.account,
        restaurant: None,
        filter: None,
        period: (None, None),
        since: Some(at(0)),
    };
    let request = |cursor, direction| PageRequest {
        limit: 10,
        cursor,
        direction,
    };
    let first = question.page(bench, request(None, Direction::Older)).await;
    assert_eq!(first.items.len(), 6);
    let nothing = question.page(bench, request(first.prev, Direction::Newer)).await;
    assert_eq!((nothing.items.len(), nothing.prev), (0, first.prev));
    // Two changes of one moment, that of the newest order, in two transactions.
    let mut cursor = nothing.prev;
    for old in [&taken[4], &taken[1]] {
        let mut order = old.clone();
        order.status = Status::Preparing;
        bench
            .write(move |tx| {
                let mut places = accounts::reserve_positions(tx, order.account_id, 1, at(0))?;
                let changed = Order {
                    updated_at: places.at,
                    ..order.clone()
                };
                orders::update(tx, &changed, places.take())
            })
            .await;
        let page = question.page(bench, request(cursor, Direction::Newer)).await;
        assert_eq!(page.items, [old.id]);
        cursor = page.prev;
    }
}

/// Everything that clients see of a platform's knowledge, and the flag, is a change; when the next try is due is none.
pub async fn sync_progress_is_listed_as_a_change(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let taken = bench.orders(branch, "S", 4).await;
    let question = Question {
        account: branch.account,
        restaurant: None,
        filter: None,
        period: (None, None),
        since: Some(at(0)),
    };
    let request = |cursor, direction| PageRequest {
        limit: 10,
        cursor,
        direction,
    };
    let failed = |message: &str| ProviderSync::Failed {
        message: Explanation::text(message),
    };
    let pending = |millis| ProviderSync::Pending { due_at: at(millis) };
    let id = taken[1].id;
    let mut cursor = question.page(bench, request(None, Direction::Older)).await.prev;
    let mut moment = 1_000;
    for (sync, word, ready_at, is_seen) in [
        (pending(5), None, None, true),
        (pending(9), None, None, false),
        (failed("503"), None, None, true),
        (failed("503"), None, None, false),
        (failed("400"), None, None, true),
        (ProviderSync::Done, None, None, true),
        (ProviderSync::Done, Some("APPROVED"), None, true),
        (ProviderSync::Done, Some("APPROVED"), Some(at(3)), true),
        (ProviderSync::Done, None, Some(at(3)), true),
    ] {
        moment += 1_000;
        let now = at(moment);
        let (wanted, known) = (sync.clone(), word.map(str::to_owned));
        let written = bench
            .write(move |tx| {
                let stored = orders::lock(tx, id)?.unwrap();
                let mut order = stored.clone();
                order.sync = wanted.clone();
                order.provider_status.clone_from(&known);
                order.ready_at = ready_at;
                orders::set_progress(tx, &stored, &mut order, now)?;
                Ok(order)
            })
            .await;
        let found = bench.write(move |tx| orders::lock(tx, id)).await;
        assert_eq!(found.as_ref(), Some(&written));
        assert_eq!(written.updated_at == now, is_seen, "{sync:?}");
        let page = question.page(bench, request(cursor, Direction::Newer)).await;
        let expected: &[OrderId] = if is_seen { &[id] } else { &[] };
        assert_eq!(page.items, expected, "{sync:?} {word:?}");
        cursor = page.prev;
    }
    // An order that cannot be read comes up as well.
    bench
        .write(move |tx| orders::set_sync_unread(tx, id, &ProviderSync::NotNeeded, at(20_000)))
        .await;
    let found = bench.write(move |tx| orders::lock(tx, id)).await.unwrap();
    assert_eq!(
        (found.sync, found.updated_at),
        (ProviderSync::NotNeeded, at(20_000))
    );
    let page = question.page(bench, request(cursor, Direction::Newer)).await;
    assert_eq!(page.items, [id]);
    cursor = page.prev;
    for (flag, is_seen) in [
        (Some(Flag::UnknownToPlatform), true),
        (Some(Flag::UnknownToPlatform), false),
        (None, true),
        (None, false),
    ] {
        let set = move |tx: &mut garson_store::Tx<'_>| {
            order_flags::set(tx, id, flag, TimelineReason::UnknownToPlatform, at(30_000))
        };
        assert_eq!(bench.write(set).await, is_seen, "{flag:?}");
        let page = question.page(bench, request(cursor, Direction::Newer)).await;
        assert_eq!(!page.items.is_empty(), is_seen, "{flag:?}");
        cursor = page.prev;
    }
    // Both flags have their lines, and what comes later stands behind them.
    let line = TimelineLine {
        at: at(40_000),
        from: Some(Status::New),
        to: Status::Preparing,
        by: Actor::Account,
        why: None,
        revision: None,
    };
    bench
        .write(move |tx| orders::append_timeline(tx, id, std::slice::from_ref(&line)))
        .await;
    let lines = bench.read(move |tx| orders::timeline(tx, id)).await;
    let shown: Vec<_> = lines
        .iter()
        .map(|line| (line.from, line.to, line.by, line.why.clone()))
        .collect();
    let (new, system) = (Some(Status::New), Actor::System);
    assert_eq!(
        shown,
        [
            (None, Status::New, Actor::Platform, Some(TimelineReason::Arrived)),
            (new, Status::New, system, Some(TimelineReason::UnknownToPlatform)),
            (new, Status::New, system, Some(TimelineReason::UnknownToPlatform)),
            (new, Status::Preparing, Actor::Account, None),
        ]
    );
    // All of it in the order of commits: what is behind the newest change is as old or older.
    let all = question.walk(bench, 1, Direction::Older).await;
    assert_eq!(all.first(), Some(&id));
    assert_eq!(all.len(), taken.len());
}

pub async fn page_of_changes_examines_a_bounded_number_of_orders(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let rare = bench
        .write(move |tx| take_order_from(tx, branch, PROVIDERS[1], &a_new_order("rare"), at(0)))
        .await;
    bench.orders(branch, "S", 2_600).await;
    let question = Question {
        account: branch.account,
        restaurant: None,
        filter: Some(OrderFilter {
            statuses: Status::ALL.to_vec(),
            providers: vec![PROVIDERS[1]],
        }),
        period: (None, None),
        since: Some(at(0)),
    };
    let mut request = PageRequest {
        limit: 10,
        cursor: None,
        direction: Direction::Older,
    };
    let first = question.page(bench, request).await;
    assert!(first.items.is_empty() && first.next.is_some());
    request.cursor = first.next;
    let second = question.page(bench, request).await;
    assert_eq!((second.items, second.next), (vec![rare.id], None));
    request = PageRequest {
        limit: 10,
        cursor: None,
        direction: Direction::Newer,
    };
    let up = question.page(bench, request).await;
    assert_eq!(up.items, [rare.id]);
    request.cursor = up.prev;
    let rest = question.page(bench, request).await;
    assert!(
        rest.items.is_empty() && rest.prev > up.prev,
        "what was looked at is not looked at again"
    );
}
