//! Search: what people type finds their orders, whatever else there is, and nothing that is gone.

use crate::database::Bench;
use crate::dump;
use crate::fixtures::{Branch, DIRECT, GETIR, at, take_order, take_order_from};
use garson_core::id::{AccountId, OrderId};
use garson_core::order::{NewOrder, Order, Status};
use garson_core::platform::Provider;
use garson_core::search::asked;
use garson_core::testing::a_new_order;
use garson_store::Engine;
use garson_store::lists::feed::{ALL_POSITIONS, Direction, PageRequest, positions_between};
use garson_store::lists::search;
use garson_store::lists::search::{MAX_EXAMINED, SearchPage, SearchQuery};
use garson_store::tables::{orders, restaurants};
use garson_store::upkeep::sweep;

fn wanted(text: &str) -> SearchQuery {
    SearchQuery {
        words: asked(text),
        statuses: Vec::new(),
        provider: None,
        restaurant: None,
        between: ALL_POSITIONS,
    }
}

fn named(id: &str, code: &str, customer: &str, phone: Option<&str>) -> NewOrder {
    let mut new = a_new_order(id);
    new.short_code = Some(code.to_owned());
    new.content.customer.name = Some(customer.to_owned());
    new.content.customer.phone = phone.map(str::to_owned);
    new
}

async fn take(bench: &Bench, branch: Branch, new: NewOrder, millis: i64) -> Order {
    bench
        .write(move |tx| take_order(tx, branch, &new, at(millis)))
        .await
}

/// Indexes until nothing is left.
async fn index(engine: &Engine, account: AccountId, chunk: i64) -> u64 {
    let mut all = 0;
    loop {
        let some = engine
            .write(account, move |tx| search::index(tx, account, chunk))
            .await;
        match some.unwrap() {
            0 => return all,
            some => all += some,
        }
    }
}

async fn page(bench: &Bench, account: AccountId, wanted: &SearchQuery, request: PageRequest) -> SearchPage {
    let wanted = wanted.clone();
    bench
        .read(move |tx| search::find(tx, account, &wanted, request))
        .await
}

/// Everything that is found, in pages of so many, from the newest on or from the oldest on; newest first.
async fn all(
    bench: &Bench,
    account: AccountId,
    wanted: &SearchQuery,
    limit: usize,
    direction: Direction,
) -> Vec<OrderId> {
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let request = PageRequest {
            limit,
            cursor,
            direction,
        };
        let page = page(bench, account, wanted, request).await;
        assert!(page.orders.len() <= limit);
        if direction == Direction::Older {
            found.extend(page.orders);
            cursor = page.older;
        } else {
            found.splice(0..0, page.orders);
            cursor = page.newer;
        }
        if cursor.is_none() {
            return found;
        }
    }
}

async fn found(bench: &Bench, account: AccountId, text: &str) -> Vec<OrderId> {
    all(bench, account, &wanted(text), 10, Direction::Older).await
}

pub async fn search_matches_prefixes_of_words(bench: &Bench) {
    let (here, there) = (bench.branch("lokanta").await, bench.branch("pideci").await);
    let account = here.account;
    let one = take(bench, here, named("GTR-0042", "K7", "İpek Şahin", None), 0).await;
    let two = take(
        bench,
        here,
        named("ts-9/1", "K71", "ışıl ÇAĞLAR-Öz", Some("+90 532 123 45 67")),
        1,
    )
    .await;
    let theirs = take(bench, there, named("GTR-0042", "K7", "İpek Şahin", None), 2).await;
    assert_eq!(found(bench, account, "ipek").await, []);
    assert!(bench.read(move |tx| search::is_behind(tx, account)).await);
    let behind = bench.read(|tx| search::accounts_behind(tx, None, 10)).await;
    assert_eq!(behind.accounts, [account, there.account]);
    assert_eq!(index(&bench.engine, account, 1).await, 2);
    assert!(!bench.read(move |tx| search::is_behind(tx, account)).await);
    let behind = bench.read(|tx| search::accounts_behind(tx, None, 10)).await;
    assert_eq!(
        (behind.accounts, behind.last),
        (vec![there.account], Some(there.account))
    );
    let behind = bench
        .read(move |tx| search::accounts_behind(tx, Some(there.account), 10))
        .await;
    assert_eq!((behind.accounts, behind.last), (vec![], None));
    assert_eq!(index(&bench.engine, there.account, 10).await, 1);

    let (one, two) = (one.id, two.id);
    for text in [
        "IPEK", "ipek", "ıpek", "İPE", "sahin ip", "ŞAH", "gtr-0042", "gtr0", "k7 sah",
    ] {
        assert_eq!(found(bench, account, text).await, [one], "{text}");
    }
    for text in [
        "IŞIL",
        "isil",
        "caglar",
        "ÖZ",
        "çağlar-öz",
        "k71",
        "ts-9/1",
        "TS9",
        "0532",
        "0532 123 45 67",
    ] {
        assert_eq!(found(bench, account, text).await, [two], "{text}");
    }
    // Signs are no words.
    for text in ["k7", "K", "", "%", "_"] {
        assert_eq!(found(bench, account, text).await, [two, one], "{text}");
    }
    for text in ["pek", "ipek caglar", "0042", "gtr-00421", "533"] {
        assert_eq!(found(bench, account, text).await, [], "{text}");
    }
    assert_eq!(found(bench, there.account, "ipek").await, [theirs.id]);
}

/// Orders of two restaurants from two platforms, in several statuses, of customers with much alike.
async fn mixed(bench: &Bench, branches: [Branch; 2], count: usize) -> Vec<(Order, String)> {
    const FIRST: [&str; 5] = ["Mehmet", "MERYEM", "Ali", "Ayşe", "İsmail"];
    const LAST: [&str; 4] = ["Yılmaz", "Yıldız", "ÖZ", "Kaya"];
    let mut taken = Vec::new();
    for n in 0..count {
        let name = format!("{} {}", FIRST[n % 5], LAST[n / 5 % 4]);
        let new = named(&format!("S-{n}"), &format!("{}", n % 7), &name, None);
        let (branch, provider) = (branches[n % 2], [DIRECT, GETIR, DIRECT][n % 3]);
        let status = [
            Status::New,
            Status::Delivered,
            Status::Delivered,
            Status::Cancelled,
        ][n % 4];
        let millis = i64::try_from(n / 3 * 1_000).unwrap();
        let order = bench
            .write(move |tx| {
                let mut order = take_order_from(tx, branch, provider, &new, at(millis))?;
                order.status = status;
                orders::update(tx, &order, millis)?;
                Ok(order)
            })
            .await;
        taken.push((order, name));
    }
    index(&bench.engine, branches[0].account, 50).await;
    taken
}

pub async fn search_filters_agree_with_a_full_scan(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    let other = bench.branch_of(account).await;
    let taken = mixed(bench, [branch, other], 120).await;
    let providers: [Option<Provider>; 2] = [None, Some(GETIR)];
    let statuses: [&[Status]; 4] = [
        &[],
        &[Status::New],
        &[Status::Cancelled],
        &[Status::New, Status::Delivered],
    ];
    let plain = |text: &str, order: &Order, name: &str| {
        let short = order.short_code.clone().unwrap();
        let words = format!("{} {short} {name}", order.provider_order_id);
        let words: Vec<String> = words.split(' ').map(garson_core::search::folded).collect();
        asked(text).iter().all(|word| word.is_in(&words.join(" ")))
    };
    for text in ["", "me", "mehmet yil", "yil s1", "s1", "kaya 3", "nobody"] {
        for provider in providers {
            for status in statuses {
                for restaurant in [None, Some(other.restaurant)] {
                    for period in [None, Some((7_000, 20_000))] {
                        let between = match period {
                            None => ALL_POSITIONS,
                            Some((from, to)) => bench
                                .read(move |tx| positions_between(tx, account, Some(at(from)), Some(at(to))))
                                .await
                                .unwrap(),
                        };
                        let wanted = SearchQuery {
                            statuses: status.to_vec(),
                            provider,
                            restaurant,
                            between,
                            ..wanted(text)
                        };
                        let expected: Vec<OrderId> = taken
                            .iter()
                            .rev()
                            .filter(|(order, name)| plain(text, order, name))
                            .filter(|(order, _)| provider.is_none_or(|it| it == order.provider))
                            .filter(|(order, _)| status.is_empty() || status.contains(&order.status))
                            .filter(|(order, _)| restaurant.is_none_or(|it| it == order.restaurant_id))
                            .filter(|(order, _)| {
                                period.is_none_or(|(from, to)| (at(from)..at(to)).contains(&order.created_at))
                            })
                            .map(|(order, _)| order.id)
                            .collect();
                        for (limit, direction) in [(7, Direction::Older), (4, Direction::Newer)] {
                            let found = all(bench, account, &wanted, limit, direction).await;
                            assert_eq!(found, expected, "{text} {wanted:?} {direction:?}");
                        }
                    }
                }
            }
        }
    }
}

pub async fn paging_through_results_is_complete_while_orders_arrive(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    let taken = mixed(bench, [branch, branch], 90).await;
    for text in ["", "mehmet", "s"] {
        let expected: Vec<OrderId> = taken
            .iter()
            .rev()
            .filter(|(_, name)| text != "mehmet" || name.starts_with("Mehmet"))
            .map(|(order, _)| order.id)
            .collect();
        let newest = PageRequest {
            limit: 4,
            cursor: None,
            direction: Direction::Older,
        };
        let mut seen: Vec<OrderId> = Vec::new();
        let mut page_now = page(bench, account, &wanted(text), newest).await;
        assert_eq!(page_now.newer, None);
        let mut number = 0;
        loop {
            seen.extend(&page_now.orders);
            let Some(cursor) = page_now.older else { break };
            // Somebody orders between two pages.
            number += 1;
            let new = named(&format!("S-{text}-{number}"), "1", "Mehmet Yılmaz", None);
            take(bench, branch, new, 100_000).await;
            index(&bench.engine, account, 10).await;
            let request = PageRequest {
                cursor: Some(cursor),
                ..newest
            };
            page_now = page(bench, account, &wanted(text), request).await;
            assert!(page_now.newer.is_some());
        }
        // What came while we walked stands before all that we saw.
        assert!(seen.ends_with(&expected), "{text}");
        let mut once = seen.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), seen.len(), "{text}: something came twice");
        // And back up again, to the newest.
        let up = all(bench, account, &wanted(text), 4, Direction::Newer).await;
        assert_eq!(up, all(bench, account, &wanted(text), 4, Direction::Older).await);
        assert!(up.ends_with(&seen));
    }
}

pub async fn search_page_examines_a_bounded_number_of_orders(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    let rare = take(bench, branch, named("RARE", "Z1", "Zeynep Kaya", None), 0).await;
    let mut cancelled = rare.clone();
    cancelled.status = Status::Cancelled;
    bench.write(move |tx| orders::update(tx, &cancelled, 9)).await;
    let many = i64::try_from(MAX_EXAMINED).unwrap() * 2 + 500;
    bench
        .write(move |tx| {
            for n in 0..many {
                let new = named(&format!("M{n:05}"), "7", "Ayşe Kaya", None);
                take_order(tx, branch, &new, at(n))?;
            }
            Ok(())
        })
        .await;
    assert_eq!(index(&bench.engine, account, 500).await, many as u64 + 1);
    let first = PageRequest {
        limit: 10,
        cursor: None,
        direction: Direction::Older,
    };
    // An index leads there at once.
    for text in ["zeynep", "rare", "kaya zey", "z1 k"] {
        let page = page(bench, account, &wanted(text), first).await;
        assert_eq!(
            (page.orders, page.older, page.examined_to),
            (vec![rare.id], None, None),
            "{text}"
        );
    }
    // Without one it is said how far was looked, and the next page goes on.
    let cancelled = SearchQuery {
        statuses: vec![Status::Cancelled],
        ..wanted("")
    };
    let none = page(bench, account, &cancelled, first).await;
    assert!(none.orders.is_empty() && none.older.is_some() && none.examined_to.is_some());
    assert_eq!(
        all(bench, account, &cancelled, 10, Direction::Older).await,
        [rare.id]
    );
    // Words of which very many begin alike lead through the orders themselves.
    let wide = page(bench, account, &wanted("m0"), first).await;
    assert_eq!((wide.orders.len(), wide.examined_to), (10, None));
    let last = page(bench, account, &wanted("m00001"), first).await;
    assert_eq!(last.orders.len(), 1);
}

pub async fn two_nodes_index_each_order_once(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    let taken = bench.orders(branch, "S", 300).await;
    let engines = [bench.engine.clone(), bench.second_engine()];
    let mut running = tokio::task::JoinSet::new();
    for engine in engines {
        running.spawn(async move { index(&engine, account, 7).await });
    }
    let counts = running.join_all().await;
    assert_eq!(counts.iter().sum::<u64>(), 300);
    assert_eq!(found(bench, account, "s").await.len(), taken.len());
}

pub async fn deleted_orders_are_removed_from_the_search_index(bench: &Bench) {
    let staying = bench.branch("lokanta").await;
    let account = staying.account;
    let closing = bench.branch_of(account).await;
    let stays = take(bench, staying, named("A", "1", "Ayşe Kaya", None), 0).await;
    index(&bench.engine, account, 10).await;
    let before = dump::of(&bench.engine).await;
    for n in 0..5 {
        take(
            bench,
            closing,
            named(&format!("B{n}"), "1", "Ayşe Gider", None),
            1,
        )
        .await;
    }
    index(&bench.engine, account, 3).await;
    assert_eq!(found(bench, account, "ayse").await.len(), 6);
    // One that search does not know yet.
    take(bench, closing, named("B9", "1", "Ayşe Gider", None), 2).await;
    let id = closing.restaurant;
    bench
        .write(move |tx| restaurants::delete(tx, account, id, at(9)))
        .await;
    for text in ["ayse", "1", "", "gider"] {
        let left: &[OrderId] = if text == "gider" { &[] } else { &[stays.id] };
        assert_eq!(found(bench, account, text).await, left, "{text}");
    }
    while bench.read(|tx| sweep::next_deleted(tx, None)).await.is_some() {
        bench
            .write(move |tx| sweep::remove_chunk(tx, account, id, 2))
            .await;
        index(&bench.engine, account, 1).await;
    }
    let after = dump::of(&bench.engine).await;
    for table in ["order_words", "word_places", "orders"] {
        assert_eq!(after[table], before[table], "{table}");
    }
    assert_eq!(found(bench, account, "ayse").await, [stays.id]);
}
