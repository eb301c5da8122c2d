//! Where PostgreSQL looks. It plans for whatever value may be asked for, so a statement must leave it no choice but the index
//! in which what is asked for stands together.

use crate::database::Bench;
use crate::fixtures::{DIRECT, at};
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, ResendId, RestaurantId};
use garson_core::order::{CallKind, Status};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use garson_store::lists::board;
use garson_store::lists::feed::{ALL_POSITIONS, Direction, PageRequest, Scope};
use garson_store::lists::order_changes::Changes;
use garson_store::lists::orders::OrderFilter;
use garson_store::tables::attempts::Attempt;
use garson_store::tables::schema::TABLES;
use garson_store::tables::{attempts, calls, deliveries, integrations, orders, resends, restaurants};
use garson_store::totals::stats;
use garson_store::upkeep::sweep;
use garson_store::{ACCOUNTS, Result, Tx, params};
use uuid::Uuid;

const TIMES: i64 = 20_000;
/// More than any of the questions has to look at.
const FEW: i64 = 20;

/// The indexes in which rows stand together by a value of theirs.
const BY_VALUE: [&str; 6] = [
    "orders_reported_by_status",
    "orders_reported_of_restaurant_by_status",
    "orders_open",
    "orders_pending_by_status",
    "orders_pending_of_restaurant_by_status",
    "events_settled",
];

const A_PAGE: PageRequest = PageRequest {
    limit: 5,
    cursor: None,
    direction: Direction::Older,
};

/// Something that is asked, and the table in which the answer is looked for.
type Question = (
    &'static str,
    &'static str,
    fn(&mut Tx<'_>, AccountId, RestaurantId) -> Result<usize>,
);

fn pending(tx: &mut Tx<'_>, scope: Scope, status: Status) -> Result<usize> {
    let wanted = filter(&[status], &[DIRECT]);
    let page = garson_store::lists::orders::list_pending(tx, scope, Some(&wanted), ALL_POSITIONS, A_PAGE)?;
    Ok(page.items.len())
}

fn filter(statuses: &[Status], providers: &[Provider]) -> OrderFilter {
    OrderFilter {
        statuses: statuses.to_vec(),
        providers: providers.to_vec(),
    }
}

/// Orders of these statuses and platforms, reported or not.
fn listed(tx: &mut Tx<'_>, scope: Scope, statuses: &[Status], providers: &[Provider]) -> Result<usize> {
    let wanted = filter(statuses, providers);
    let page = garson_store::lists::orders::list_filtered(
        tx,
        scope,
        Some(&wanted),
        ALL_POSITIONS,
        A_PAGE,
        |_, _, _| (),
    )?;
    Ok(page.items.len())
}

const GETIR: Provider = Provider::new("getir");
const OPEN: [Status; 5] = [
    Status::Scheduled,
    Status::ScheduledAccepted,
    Status::New,
    Status::Preparing,
    Status::OnTheWay,
];

/// Nobody has what is asked for.
const QUESTIONS: [Question; 12] = [
    ("open orders of all platforms", "orders", |tx, account, _| {
        listed(tx, Scope::Account(account), &OPEN, &[DIRECT, GETIR])
    }),
    (
        "open orders of a restaurant and all platforms",
        "orders",
        |tx, _, restaurant| listed(tx, Scope::Restaurant(restaurant), &OPEN, &[DIRECT, GETIR]),
    ),
    ("orders of a platform", "orders", |tx, account, _| {
        listed(tx, Scope::Account(account), &Status::ALL, &[GETIR])
    }),
    (
        "orders of a restaurant and a platform",
        "orders",
        |tx, _, restaurant| listed(tx, Scope::Restaurant(restaurant), &Status::ALL, &[GETIR]),
    ),
    ("orders that have changed since", "orders", |tx, account, _| {
        let changes = Changes {
            since: at(1_000_000),
            restaurant: None,
            filter: None,
            between: ALL_POSITIONS,
        };
        Ok(
            garson_store::lists::order_changes::list_changed(tx, account, &changes, A_PAGE, |_| ())?
                .items
                .len(),
        )
    }),
    ("a status of the account", "orders", |tx, account, _| {
        pending(tx, Scope::Account(account), Status::Cancelled)
    }),
    ("a status of a restaurant", "orders", |tx, _, restaurant| {
        pending(tx, Scope::Restaurant(restaurant), Status::Cancelled)
    }),
    ("open orders", "orders", |tx, account, _| {
        Ok(board::open(tx, account, 100)?.len())
    }),
    (
        "open orders of a restaurant",
        "orders",
        |tx, account, restaurant| {
            let all = integrations::of_restaurant(tx, restaurant)?;
            let shown = board::open_of_integration(tx, account, all[0].id, 100)?;
            let polled = orders::open_of_integration(tx, account, all[0].id, 100)?;
            Ok(shown.len() + polled.len())
        },
    ),
    ("failed deliveries", "events", |tx, account, _| {
        let page = garson_store::lists::events::of_account(tx, account, Some(DeliveryState::Failed), A_PAGE)?;
        Ok(page.items.len())
    }),
    ("how many deliveries have failed", "events", |tx, account, _| {
        let count = deliveries::count_failed(tx, account, at(0), 100)?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }),
    ("what is to be sent again", "events", |tx, account, _| {
        let id = ResendId(Uuid::now_v7());
        let plan = resends::plan(tx, id, account, None, at(0), false, at(5_000))?;
        resends::start(tx, &plan)?;
        let stepped = resends::step(tx, account, id, 10, at(6_000))?;
        Ok(stepped.map_or(0, |it| usize::try_from(it.requeued).unwrap_or(usize::MAX)))
    }),
];

/// Rows of a table that this transaction has looked at.
fn looked_at(tx: &mut Tx<'_>, table: &str) -> Result<i64> {
    tx.query_one(
        "SELECT CAST(COALESCE(idx_tup_fetch, 0) + seq_tup_read AS BIGINT) FROM pg_stat_xact_user_tables
         WHERE relname = ?1",
        params![table],
        |row| row.get(0),
    )
}

/// Writes the first row of a table so many times again, with these columns made from the number `n` and the rest as it is.
fn multiply(tx: &mut Tx<'_>, table: &str, made: &[(&str, &str)]) -> Result<u64> {
    let columns = TABLES.iter().find(|it| it.name == table).unwrap().columns;
    let value = |column: &&str| {
        let made = made.iter().find(|(name, _)| name == column);
        made.map_or((*column).to_owned(), |(_, value)| (*value).to_owned())
    };
    let values: Vec<String> = columns.iter().map(value).collect();
    let sql = format!(
        "INSERT INTO {table} ({}) SELECT {} FROM (SELECT * FROM {table} LIMIT 1) AS one, generate_series(1, CAST(?1 AS BIGINT)) AS n",
        columns.join(", "),
        values.join(", ")
    );
    tx.execute(&sql, params![TIMES])
}

pub async fn filter_without_matches_reads_few_rows(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let (account, restaurant) = (branch.account, branch.restaurant);
    bench.give_webhook(account).await;
    bench.orders(branch, "S", 1).await;
    bench
        .write(move |tx| {
            // All have come to an end, and nobody is told of any.
            tx.execute("UPDATE orders SET status = 900", params![])?;
            tx.execute("UPDATE events SET state = 'skipped', due_at = NULL", params![])?;
            let (id, place) = ("decode(md5(CAST(n AS TEXT)), 'hex')", "position + 2 * n");
            let own = [("id", id), ("position", place)];
            let of_orders = [("identity", "'S' || n"), ("changed", place)];
            multiply(tx, "orders", &[&own[..], &of_orders].concat())?;
            multiply(tx, "events", &[&own[..], &[("order_id", "NULL")]].concat())?;
            tx.on(ACCOUNTS).execute(
                "UPDATE accounts SET position = ?2 WHERE id = ?1",
                params![&account, 2 * (TIMES + 1)],
            )
        })
        .await;
    // As it is after a while: nothing that is out of date, and it knows what there is. The indexes that should be used are
    // as large as they can get, which makes others look cheaper.
    bench
        .write(move |tx| {
            for index in BY_VALUE {
                tx.execute(&format!("ALTER INDEX {index} SET (fillfactor = 10)"), params![])?;
            }
            tx.execute("REINDEX TABLE orders", params![])?;
            tx.execute("REINDEX TABLE events", params![])?;
            tx.execute("ANALYZE", params![])
        })
        .await;
    for (name, table, ask) in QUESTIONS {
        let looked = bench
            .write(move |tx| {
                let before = looked_at(tx, table)?;
                let found = ask(tx, account, restaurant)?;
                assert_eq!(found, 0, "{name}");
                Ok(looked_at(tx, table)? - before)
            })
            .await;
        assert!(looked <= FEW, "{name}: {looked} rows");
    }
}

pub async fn rows_to_be_swept_are_not_read(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    bench.orders(branch, "S", 1).await;
    let attempt = Attempt {
        at: at(1),
        ..Attempt::default()
    };
    bench
        .write(move |tx| {
            let page = garson_store::lists::events::of_account(tx, account, None, A_PAGE)?;
            attempts::record(tx, page.items[0].id, &attempt)?;
            let id = "decode(md5(CAST(n AS TEXT)), 'hex')";
            multiply(
                tx,
                "events",
                &[("id", id), ("position", "position + 2 * n"), ("order_id", "NULL")],
            )?;
            multiply(tx, "attempts", &[("event_id", id)])?;
            tx.execute("ANALYZE", params![])
        })
        .await;
    let closing = bench.branch_of(account).await;
    bench.orders(closing, "C", 2).await;
    let looked = bench
        .write(move |tx| {
            restaurants::delete(tx, account, closing.restaurant, at(2))?;
            let before = looked_at(tx, "attempts")? + looked_at(tx, "events")?;
            assert!(sweep::remove_chunk(tx, account, closing.restaurant, 10)?);
            // A page of a list that nobody is in goes past what is being swept, and nothing else.
            let page =
                garson_store::lists::events::of_account(tx, account, Some(DeliveryState::Failed), A_PAGE)?;
            assert!(page.items.is_empty());
            Ok(looked_at(tx, "attempts")? + looked_at(tx, "events")? - before)
        })
        .await;
    assert!(looked <= FEW, "{looked} rows");
}

pub async fn blocked_calls_and_other_queues_are_not_read(bench: &Bench) {
    let (busy, other) = (bench.branch("lokanta").await, bench.branch("another").await);
    let (first, second) = (
        bench.orders(busy, "S", 1).await.remove(0),
        bench.orders(other, "T", 1).await.remove(0),
    );
    bench
        .write(move |tx| {
            calls::create(tx, &crate::calls::a_call(&first, CallKind::Ready))?;
            let id = "decode(md5(CAST(n AS TEXT)), 'hex')";
            // Half of them wait behind others.
            let blocked = "CASE WHEN n % 2 = 0 THEN 1 ELSE 0 END";
            multiply(tx, "calls", &[("id", id), ("order_id", id), ("blocked", blocked)])?;
            calls::create(tx, &crate::calls::a_call(&second, CallKind::Ready))?;
            tx.execute("ANALYZE", params![])
        })
        .await;
    let maker = crate::calls::lease_holder(bench, "one").await;
    let integration = other.integration;
    let looked = bench
        .write(move |tx| {
            let before = looked_at(tx, "calls")?;
            assert_eq!(calls::queues(tx)?.len(), 2);
            assert!(calls::next_due(tx, integration, maker)?.is_some());
            let leased = calls::lease_due(tx, integration, at(1), maker, crate::calls::LEASE, 10)?;
            assert_eq!(leased.len(), 1);
            Ok(looked_at(tx, "calls")? - before)
        })
        .await;
    assert!(looked <= 3 * FEW, "{looked} rows");
}

/// Years of one account and as many rows of others; the summary of a day reads the rows of that day.
pub async fn summary_of_a_day_reads_the_rows_of_that_day(bench: &Bench) {
    const SLOT: i64 = 30 * 60 * 1000;
    const ROWS_OF_A_DAY: i64 = 8;
    const FIRST_SLOT: i64 = 6 * 18_000;
    let branch = bench.branch("lokanta").await;
    let (account, restaurant) = (branch.account, branch.restaurant);
    bench.orders(branch, "S", 1).await;
    bench
        .write(move |tx| {
            let line = "(SELECT counts FROM order_stats LIMIT 1)";
            for scope in [account.0, restaurant.0] {
                tx.execute(
                    &format!(
                        "INSERT INTO order_stats (scope, span, counts)
                         SELECT CAST(?1 AS BYTEA), 16000 + n, {line} FROM generate_series(1, CAST(?2 AS BIGINT)) AS n"
                    ),
                    params![scope.as_bytes().as_slice(), TIMES],
                )?;
            }
            multiply(
                tx,
                "order_stats",
                &[("scope", "decode(md5(CAST(n AS TEXT)), 'hex')"), ("span", "18000 + n % 8")],
            )?;
            tx.execute("ANALYZE", params![])
        })
        .await;
    let slot = |number: i64| Timestamp::from_millis(number * SLOT);
    let (from, to) = (slot(FIRST_SLOT), slot(FIRST_SLOT + 48));
    let looked = bench
        .write(move |tx| {
            let before = looked_at(tx, "order_stats")?;
            let hours: Vec<_> = (0..=24).map(|hour| slot(FIRST_SLOT + 2 * hour)).collect();
            let by_hour = stats::between(tx, account, None, &hours)?;
            // Every row has the sales of one of its half hours.
            let with_sales = by_hour.iter().filter(|hour| !hour.sales.is_empty());
            assert_eq!(with_sales.count(), 8);
            assert_eq!(
                stats::between(tx, account, Some(restaurant), &[from, to])?.len(),
                1
            );
            assert!(!stats::sales_of_restaurants(tx, &[restaurant], (from, to))?.is_empty());
            Ok(looked_at(tx, "order_stats")? - before)
        })
        .await;
    assert!(looked <= 3 * ROWS_OF_A_DAY + FEW, "{looked} rows");
}
