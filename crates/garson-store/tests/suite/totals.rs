//! Payment totals against a plain sum over all orders, also while a restaurant is being removed.

use crate::bench::Bench;
use crate::shop::{Branch, at, take_order};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::money::{Currency, Minor};
use garson_core::order::{Order, Status};
use garson_core::payment::PaymentType;
use garson_core::testing::a_new_order;
use garson_core::time::{Timestamp, Zone};
use garson_store::totals::Sums;
use garson_store::{orders, restaurants, sweep, totals};

const QUARTER: i64 = 15 * 60 * 1000;
const DAYS: i64 = 5;
const SPAN: i64 = DAYS * 96 * QUARTER;

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

    /// A moment of the days, often on the edge of a quarter of an hour or a millisecond beside it.
    fn moment(&mut self) -> i64 {
        let moment = self.roll(SPAN);
        match self.roll(3) {
            0 => moment,
            1 => moment / QUARTER * QUARTER,
            _ => moment / QUARTER * QUARTER + self.roll(3) - 1,
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

/// All time, days in Istanbul, odd moments, open ends, one quarter, nothing.
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
        all.push((Some(at(a)), Some(at(a + dice.roll(QUARTER)))));
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
                orders::update(tx, &after)?;
                totals::follow(tx, &before, &after)?;
                totals::follow(tx, &after, &after)?;
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
}

pub async fn totals_agree_with_a_plain_sum(bench: &Bench) {
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

pub async fn totals_forget_a_deleted_restaurant_at_once_and_for_good(bench: &Bench) {
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
    while let Some((of, id)) = bench.read(sweep::next_deleted).await {
        bench.write(move |tx| sweep::chunk(tx, of, id, 7)).await;
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
