//! Payment totals against a plain sum over all orders, also while a restaurant is being removed.

use crate::database::Bench;
use crate::fixtures::{Branch, at, take_order};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::money::{Currency, Minor};
use garson_core::order::{Order, Status};
use garson_core::payment::PaymentType;
use garson_core::testing::a_new_order;
use garson_core::time::{Timestamp, Zone};
use garson_store::tables::{orders, restaurants};
use garson_store::totals::Sums;
use garson_store::upkeep::sweep;
use garson_store::{Tx, totals};

/// Sums are kept by units of five minutes.
const UNIT: i64 = 5 * 60 * 1000;
const DAY: i64 = 24 * 60 * 60 * 1000;
const SPAN: i64 = 5 * DAY;

/// Numbers that look random and are the same every time (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        i64::try_from((x ^ (x >> 31)) % sides.unsigned_abs()).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let sides = i64::try_from(from.len()).unwrap();
        from[usize::try_from(self.roll(sides)).unwrap()]
    }

    /// A moment of the days.
    fn moment(&mut self) -> i64 {
        let moment = self.roll(SPAN);
        self.near(moment)
    }

    /// A moment like this one, often on the edge of a unit or a millisecond beside it.
    fn near(&mut self, moment: i64) -> i64 {
        match self.roll(3) {
            0 => moment,
            1 => moment / UNIT * UNIT,
            _ => moment / UNIT * UNIT + self.roll(3) - 1,
        }
    }
}

type Range = (Option<Timestamp>, Option<Timestamp>);

fn naive(
    orders: &[Order],
    restaurant: Option<RestaurantId>,
    gone: &[RestaurantId],
    (from, to): Range,
) -> Sums {
    let mut sums = Sums::new();
    for order in orders {
        let counts = !order.status.is_cancelled()
            && restaurant.is_none_or(|id| order.restaurant_id == id)
            && !gone.contains(&order.restaurant_id)
            && from.is_none_or(|t| order.created_at >= t)
            && to.is_none_or(|t| order.created_at < t);
        if counts {
            let sum = sums.entry((order.payment_type, order.currency)).or_default();
            sum.0 += 1;
            sum.1 += order.total.0;
        }
    }
    sums
}

/// All time, days in Istanbul, odd moments, open ends, one unit, nothing.
fn ranges(dice: &mut Dice) -> Vec<Range> {
    let zone = Zone::istanbul();
    let mut all = vec![
        (None, None),
        (Some(at(7)), Some(at(7))),
        (Some(at(8)), Some(at(7))),
    ];
    for (first, last) in [(1, 1), (2, 2), (1, 5), (2, 4), (5, 5)] {
        let day = |n| format!("2026-01-{n:02}");
        all.push((zone.start_of_day(&day(first)), zone.end_of_day(&day(last))));
    }
    for _ in 0..12 {
        let (a, b) = (dice.moment(), dice.moment());
        all.push((Some(at(a.min(b))), Some(at(a.max(b)))));
        all.push((Some(at(a)), None));
        all.push((None, Some(at(a))));
        all.push((Some(at(a)), Some(at(a + dice.roll(UNIT)))));
    }
    all.push((Some(at(-SPAN)), Some(at(2 * SPAN))));
    all.push((Some(at(2 * SPAN)), None));
    all
}

async fn take_many(bench: &Bench, branches: Vec<Branch>, dice: &mut Dice, count: i64) -> Vec<Order> {
    let mut moments: Vec<_> = (0..count).map(|_| dice.moment()).collect();
    moments.sort_unstable();
    let currencies: Vec<Currency> = ["TRY", "EUR", "USD"].iter().map(|c| c.parse().unwrap()).collect();
    let plan: Vec<_> = moments
        .iter()
        .map(|moment| {
            let mut new = a_new_order(&format!("{moment}-{}", dice.roll(1 << 40)));
            new.content.amount.total = Minor(dice.roll(100_000));
            new.content.amount.currency = dice.pick(&currencies);
            new.content.payment.kind = dice.pick(PaymentType::ALL);
            (dice.pick(&branches), new, *moment, dice.roll(4) == 0)
        })
        .collect();
    bench
        .write(move |tx| {
            let mut taken = Vec::new();
            for (branch, new, moment, is_cancelled) in &plan {
                let before = take_order(tx, *branch, new, at(*moment))?;
                let mut after = before.clone();
                after.status = if *is_cancelled {
                    Status::Cancelled
                } else {
                    Status::Delivered
                };
                orders::update(tx, &after, 1)?;
                totals::update_order(tx, &before, &after)?;
                totals::update_order(tx, &after, &after)?;
                taken.push(after);
            }
            Ok(taken)
        })
        .await
}

async fn compare(
    bench: &Bench,
    account: AccountId,
    orders: &[Order],
    scopes: &[Option<RestaurantId>],
    gone: &[RestaurantId],
    ranges: &[Range],
    when: &str,
) {
    let (list, asked) = (scopes.to_vec(), ranges.to_vec());
    let found = bench
        .read(move |tx| {
            let mut found = Vec::new();
            for scope in &list {
                for range in &asked {
                    found.push(totals::sums(tx, account, *scope, range.0, range.1)?);
                }
            }
            Ok(found)
        })
        .await;
    let asked = scopes
        .iter()
        .flat_map(|scope| ranges.iter().map(move |range| (scope, range)));
    for ((scope, range), found) in asked.zip(found) {
        assert_eq!(
            found,
            naive(orders, *scope, gone, *range),
            "{when}, {scope:?}, {range:?}"
        );
    }
    // And one after the other, from each moment of these to the next.
    let mut moments: Vec<_> = ranges
        .iter()
        .flat_map(|(from, to)| [*from, *to])
        .flatten()
        .collect();
    moments.sort_unstable();
    for scope in scopes {
        let (scope, asked) = (*scope, moments.clone());
        let found = bench
            .read(move |tx| totals::sums_between(tx, account, scope, &asked))
            .await;
        assert_eq!(found.len() + 1, moments.len());
        for (pair, found) in moments.windows(2).zip(found) {
            let range = (Some(pair[0]), Some(pair[1]));
            let wanted = naive(orders, scope, gone, range);
            assert_eq!(found, wanted, "{when}, {scope:?}, {range:?}");
        }
    }
}

pub async fn totals_agree_with_a_full_scan(bench: &Bench) {
    let stranger = bench.branch("yabanci").await;
    bench.orders(stranger, "X", 3).await;
    for seed in 1..=3 {
        let mut dice = Dice(seed);
        let account = bench
            .account(["bir", "iki", "uc"][usize::try_from(seed - 1).unwrap()])
            .await;
        let mut branches = Vec::new();
        for _ in 0..3 {
            branches.push(bench.branch_of(account).await);
        }
        let taken = take_many(bench, branches.clone(), &mut dice, 90).await;
        let scopes: Vec<_> = std::iter::once(None)
            .chain(branches.iter().map(|b| Some(b.restaurant)))
            .collect();
        let ranges = ranges(&mut dice);
        let when = format!("seed {seed}");
        compare(bench, account, &taken, &scopes, &[], &ranges, &when).await;
    }
}

pub async fn totals_exclude_a_deleted_restaurant(bench: &Bench) {
    let mut dice = Dice(42);
    let account = bench.account("zincir").await;
    let mut branches = Vec::new();
    for _ in 0..3 {
        branches.push(bench.branch_of(account).await);
    }
    let mut taken = take_many(bench, branches.clone(), &mut dice, 60).await;
    let ranges = ranges(&mut dice);
    let mut gone = Vec::new();
    for victim in &branches[..2] {
        let id = victim.restaurant;
        assert!(
            bench
                .write(move |tx| restaurants::delete(tx, account, id, at(0)))
                .await
        );
        gone.push(id);
    }
    let scopes = [None, Some(branches[2].restaurant)];
    compare(
        bench,
        account,
        &taken,
        &scopes,
        &gone,
        &ranges,
        "before the sweep",
    )
    .await;
    let mut chunks = 0;
    while let Some((of, id)) = bench.read(|tx| sweep::next_deleted(tx, None)).await {
        bench.write(move |tx| sweep::remove_chunk(tx, of, id, 7)).await;
        chunks += 1;
        if chunks == 4 {
            // Orders go on arriving.
            let last = taken.last().unwrap().created_at.as_millis() - at(0).as_millis();
            let order = bench.order(branches[2], "meanwhile", at(last)).await;
            taken.push(order);
        }
        let when = format!("after chunk {chunks}");
        compare(bench, account, &taken, &scopes, &gone, &ranges, &when).await;
    }
    assert!(chunks > 8, "the sweep took only {chunks} chunks");
    compare(bench, account, &taken, &scopes, &gone, &ranges, "after the sweep").await;
}

/// An account's life over some months, as it was and as the sums must show it.
struct Life {
    account: AccountId,
    branches: Vec<Branch>,
    orders: Vec<Order>,
    gone: Vec<RestaurantId>,
    now: i64,
}

impl Life {
    /// Something happens: mostly an order, often a change of mind about one, seldom the end of a restaurant.
    async fn step(&mut self, bench: &Bench, dice: &mut Dice) {
        match dice.roll(20) {
            0..10 => self.take(bench, dice).await,
            10..18 => self.turn(bench, dice).await,
            18 => {
                let account = self.account;
                let victims = self.gone.clone();
                bench
                    .write(move |tx| {
                        for id in &victims {
                            sweep::remove_chunk(tx, account, *id, 2)?;
                        }
                        Ok(())
                    })
                    .await;
            }
            _ => self.close(bench, dice).await,
        }
    }

    async fn take(&mut self, bench: &Bench, dice: &mut Dice) {
        let pause = dice.pick(&[0, 1000, UNIT, 60 * UNIT, 3 * DAY, 20 * DAY]);
        self.now = (self.now + 1).max(dice.near(self.now + pause));
        let mut new = a_new_order(&format!("{}-{}", self.orders.len(), self.now));
        new.content.amount.total = Minor(dice.roll(100_000));
        new.content.payment.kind = dice.pick(PaymentType::ALL);
        let (branch, now) = (dice.pick(&self.branches), at(self.now));
        self.orders
            .push(bench.write(move |tx| take_order(tx, branch, &new, now)).await);
    }

    /// An order of any age is cancelled, or lives again.
    async fn turn(&mut self, bench: &Bench, dice: &mut Dice) {
        if self.orders.is_empty() {
            return;
        }
        let index = usize::try_from(dice.roll(i64::try_from(self.orders.len()).unwrap())).unwrap();
        let before = self.orders[index].clone();
        let mut after = before.clone();
        after.status = if before.status.is_cancelled() {
            Status::Delivered
        } else {
            Status::CancelledByPlatform
        };
        self.orders[index] = after.clone();
        bench
            .write(move |tx| {
                // Also of a restaurant that is being swept, until the order itself is.
                if orders::lock(tx, after.id)?.is_some() {
                    orders::update(tx, &after, 1)?;
                    totals::update_order(tx, &before, &after)?;
                }
                Ok(())
            })
            .await;
    }

    async fn close(&mut self, bench: &Bench, dice: &mut Dice) {
        let victim = dice.pick(&self.branches);
        let (account, id) = (self.account, victim.restaurant);
        if bench
            .write(move |tx| restaurants::delete(tx, account, id, at(0)))
            .await
        {
            self.gone.push(id);
            self.branches.retain(|branch| branch.restaurant != id);
            self.branches.push(bench.branch_of(account).await);
        }
    }

    async fn compare(&self, bench: &Bench, dice: &mut Dice, when: &str) {
        let mut ranges: Vec<Range> = vec![(None, None)];
        for _ in 0..6 {
            let (a, b) = (dice.roll(self.now + DAY), dice.roll(self.now + DAY));
            let (a, b) = (dice.near(a), dice.near(b));
            ranges.push((Some(at(a.min(b))), Some(at(a.max(b)))));
            ranges.push((Some(at(a)), None));
            ranges.push((None, Some(at(b))));
        }
        let restaurant = dice.pick(&self.branches).restaurant;
        let scopes = [None, Some(restaurant)];
        compare(
            bench,
            self.account,
            &self.orders,
            &scopes,
            &self.gone,
            &ranges,
            when,
        )
        .await;
    }
}

pub async fn totals_agree_after_random_changes(bench: &Bench) {
    for (seed, name) in (1..).zip(["ilkbahar", "yaz", "kis"]) {
        let mut dice = Dice(seed * 1000);
        let account = bench.account(name).await;
        let mut life = Life {
            account,
            branches: vec![bench.branch_of(account).await, bench.branch_of(account).await],
            orders: Vec::new(),
            gone: Vec::new(),
            now: 0,
        };
        for step in 0..120 {
            life.step(bench, &mut dice).await;
            if step % 4 == 0 {
                life.compare(bench, &mut dice, &format!("seed {seed}, step {step}"))
                    .await;
            }
        }
        assert!(!life.gone.is_empty(), "seed {seed} closed no restaurant");
        assert!(
            life.now > 100 * DAY,
            "seed {seed} lived only {} days",
            life.now / DAY
        );
    }
}

pub async fn concurrent_writers_keep_correct_totals(bench: &Bench) {
    let account = bench.account("zincir").await;
    let branches = [bench.branch_of(account).await, bench.branch_of(account).await];
    let nodes = [bench.engine.clone(), bench.second_engine()];
    let mut jobs = tokio::task::JoinSet::new();
    for n in 0..60 {
        let (node, branch) = (nodes[n % 2].clone(), branches[n / 2 % 2]);
        // They agree on no time: half of them see their order stamped with a newer moment.
        let moment = i64::try_from(n * 7919 % 60).unwrap() * UNIT;
        jobs.spawn(async move {
            let job = move |tx: &mut Tx<'_>| take_order(tx, branch, &a_new_order(&n.to_string()), at(moment));
            let before = node.write(account, job).await.unwrap();
            if n % 3 > 0 {
                return before;
            }
            let mut after = before.clone();
            after.status = Status::Cancelled;
            let cancelled = after.clone();
            node.write(account, move |tx| {
                orders::update(tx, &cancelled, 1)?;
                totals::update_order(tx, &before, &cancelled)
            })
            .await
            .unwrap();
            after
        });
    }
    let taken = jobs.join_all().await;
    let mut dice = Dice(1);
    let ranges: Vec<Range> = (0..20)
        .map(|_| {
            let (a, b) = (dice.roll(60 * UNIT), dice.roll(60 * UNIT));
            (Some(at(a.min(b))), Some(at(a.max(b))))
        })
        .chain([(None, None)])
        .collect();
    let scopes = [None, Some(branches[0].restaurant), Some(branches[1].restaurant)];
    compare(bench, account, &taken, &scopes, &[], &ranges, "after all").await;
}
