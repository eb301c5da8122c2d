//! What is stored comes back exactly: letters, white space, numbers, nothing and emptiness. And time, which never
//! steps back.

use crate::database::Bench;
use crate::fixtures::{a_restaurant, at, take_order};
use garson_core::business::{Business, BusinessFields};
use garson_core::id::{BusinessId, EventId};
use garson_core::restaurant::RestaurantFields;
use garson_core::secret::Secret;
use garson_core::testing::a_new_order;
use garson_store::StoreErrorKind;
use garson_store::tables::events;
use garson_store::tables::events::NewEvent;
use garson_store::tables::{accounts, businesses, orders, restaurants};
use uuid::Uuid;

/// Turkish with its two kinds of i, combining marks, other scripts, four-byte characters, a flag, quotes.
const TEXTS: [&str; 6] = [
    "İstanbul'da ılık çiğ köfte, ŞIŞ & GÖĞÜS",
    "i\u{307} ≠ İ; e\u{301} ≠ é",
    "🌯🧑‍🍳🇹🇷 𝒢𝒶𝓇𝓈𝑜𝓃 \u{10FFFF}",
    "\"; DROP TABLE orders; -- ?1 $1 {lock} {blob} %s \\ \u{1}\t\r\n",
    " \u{a0} ",
    "عربى 中文 ไทย",
];

/// Valid JSON that no serialiser would write this way.
const CONFIG: &str = "{ \"b\" :1.0e2,\n\t\"a\":  100, \"n\": -0.0, \"x\": 1E+2, \"t\":\"\\u0130\\ud83c\\udf2f İ\", \"a\": [ ] }  ";

pub async fn text_is_stored_unchanged(bench: &Bench) {
    let account = bench.account("lokanta").await;
    for text in TEXTS {
        let id = BusinessId(Uuid::now_v7());
        let fields = BusinessFields {
            name: text.to_owned(),
            description: Some(text.to_owned()),
            vat_number: Some(String::new()),
            tax_office: None,
            city: Some(" ".to_owned()),
            ..BusinessFields::default()
        };
        let business = Business {
            id,
            fields: fields.clone(),
            created_at: at(1),
            updated_at: at(2),
        };
        bench
            .write(move |tx| businesses::save(tx, account, &business))
            .await;
        let found = bench
            .read(move |tx| businesses::find(tx, account, id))
            .await
            .unwrap();
        assert_eq!(found.fields, fields, "{text:?}");
        assert_eq!((found.created_at, found.updated_at), (at(1), at(2)));
    }
    let listed = bench.read(move |tx| businesses::list(tx, account)).await;
    assert_eq!(listed.len(), TEXTS.len());
}

pub async fn null_and_empty_text_are_distinct(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    for (n, (code, status)) in [(None, Some("")), (Some(""), None), (Some("A"), Some(" "))]
        .into_iter()
        .enumerate()
    {
        let mut new = a_new_order(&format!("S-{n}"));
        new.short_code = code.map(str::to_owned);
        new.provider_status = status.map(str::to_owned);
        new.provider_data = Some(CONFIG.to_owned());
        new.content.note = code.map(str::to_owned);
        new.content.customer.name = Some(TEXTS.concat());
        let (content, taken) = (new.content.clone(), new.clone());
        let order = bench.write(move |tx| take_order(tx, branch, &taken, at(0))).await;
        let id = order.id;
        let found = bench
            .write(move |tx| Ok((orders::lock(tx, id)?.unwrap(), orders::content(tx, id)?)))
            .await;
        assert_eq!(found.0, order);
        assert_eq!(found.0.short_code, new.short_code);
        assert_eq!(found.0.provider_data.as_deref(), Some(CONFIG));
        assert_eq!(found.1, content);
    }
}

pub async fn json_is_kept_byte_for_byte(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    let fields = RestaurantFields {
        name: TEXTS[2].to_owned(),
        lat: Some(41.008_237_600_000_1),
        lon: Some(-1.0e-300),
        config: Some(CONFIG.to_owned()),
        payment_matching_headers: Some(Secret::new(CONFIG.to_owned())),
        ..RestaurantFields::default()
    };
    let restaurant = a_restaurant(fields.clone());
    let (id, vault) = (restaurant.id, bench.vault.clone());
    bench
        .write(move |tx| restaurants::save(tx, &vault, account, &restaurant))
        .await;
    let vault = bench.vault.clone();
    let found = bench
        .read(move |tx| restaurants::find(tx, &vault, account, id))
        .await
        .unwrap();
    assert_eq!(found.fields, fields);
    assert_eq!(
        bench.read(move |tx| restaurants::config(tx, id)).await.as_deref(),
        Some(CONFIG)
    );

    let event_id = EventId(Uuid::now_v7());
    bench
        .write(move |tx| {
            let mut places = accounts::reserve_positions(tx, account, 1, at(0))?;
            let event = NewEvent {
                id: event_id,
                account_id: account,
                restaurant_id: id,
                order_id: None,
                sequence: None,
                name: "deneme",
                body: CONFIG,
            };
            events::write(tx, &event, &mut places)
        })
        .await;
    let event = bench
        .read(move |tx| events::find(tx, account, event_id))
        .await
        .unwrap();
    assert_eq!(event.body, CONFIG);
}

pub async fn timestamps_follow_positions_when_the_clock_goes_back(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let mut last = (0, at(i64::from(i32::MIN)));
    for now in [1_000, 500, 999, 1_000, 1_001, -5_000, 2_000, 1_500] {
        let mut places = bench
            .write(move |tx| accounts::reserve_positions(tx, account, 2, at(now)))
            .await;
        assert!(
            places.at >= last.1 && places.at >= at(now),
            "at {now}: {:?}",
            places.at
        );
        assert!(places.at <= at(2_000), "no moment is made up");
        let (first, second) = (places.take(), places.take());
        assert_eq!((first, second), (last.0 + 1, last.0 + 2), "places have no gaps");
        assert!(!places.has_webhook);
        last = (second, places.at);
    }
    assert_eq!(last.1, at(2_000));
    bench.give_webhook(account).await;
    let places = bench
        .write(move |tx| accounts::reserve_positions(tx, account, 1, at(0)))
        .await;
    assert!(places.has_webhook);
    let nobody = garson_core::id::AccountId(Uuid::now_v7());
    let gone = bench
        .try_write(move |tx| accounts::reserve_positions(tx, nobody, 1, at(0)))
        .await;
    assert_eq!(gone.map(drop).map_err(|e| e.kind), Err(StoreErrorKind::Corrupt));
}

pub async fn webhook_is_stored_and_removed(bench: &Bench) {
    let account = bench.account("lokanta").await;
    assert!(
        bench
            .read(move |tx| accounts::webhook(tx, account))
            .await
            .is_none()
    );
    bench.give_webhook(account).await;
    let webhook = bench
        .read(move |tx| accounts::webhook(tx, account))
        .await
        .unwrap();
    assert_eq!(
        (webhook.url.as_str(), webhook.authorization.as_str()),
        ("https://pos.example.com/olay", "bare")
    );
    bench
        .write(move |tx| accounts::set_webhook(tx, account, None))
        .await;
    assert!(
        bench
            .read(move |tx| accounts::webhook(tx, account))
            .await
            .is_none()
    );
}
