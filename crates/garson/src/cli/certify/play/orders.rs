//! Scenarios about what orders are like, and how they go on.

use crate::cli::certify::contents;
use crate::cli::certify::trial::{Step, Trial, failed};
use futures_util::{StreamExt, TryStreamExt, stream};
use garson_core::clock::{Clock, SystemClock};
use garson_core::event::{CANCELLED, CREATED, MOVED, UPDATED};
use garson_core::order::Status;
use garson_core::payment::PaymentType;
use garson_sim::Platform;
use garson_sim::views::{Courier, OrderRequest};
use serde_json::{Value, json};
use std::time::Duration;

const BURST: usize = 200;
const PLACED_AT_ONCE: usize = 16;
/// How much longer a POS may take to accept so many orders.
const BURST_ALLOWANCE: Duration = Duration::from_secs(60);

/// An order of a shop with other content.
pub async fn one(trial: &mut Trial<'_>, change: fn(&mut Value)) -> Step {
    let mut body = trial.body(0, &trial.number(1));
    change(&mut body);
    let order = trial.place(0, &body).await?;
    trial.arrived(&order).await
}

pub async fn life_cycle(trial: &mut Trial<'_>) -> Step {
    let order = trial.place_plain(1).await?;
    trial.accept(&order).await?;
    trial.advance_to(&order, Status::OnTheWay).await?;
    trial.advance_to(&order, Status::Delivered).await?;
    // To 500, 600 and 900.
    trial.delivered_times(&order, MOVED, 3).await
}

pub async fn turkish_letters(trial: &mut Trial<'_>) -> Step {
    let number = format!("{}-ŞİPARİŞ-ğüöçı", trial.number(1));
    let mut body = trial.body(0, &number);
    contents::turkish_letters(&mut body);
    let order = trial.place(0, &body).await?;
    trial.accept(&order).await?;
    let [shop, _] = &trial.world.shops;
    let note = "Müşteri vazgeçti: \"çok uzun sürdü\", ÖZÜR dilerim – IĞDIR'dan İnci";
    trial.world.api.cancel(shop, &order, note).await?;
    trial.delivered(&order, CANCELLED).await
}

pub async fn payment_types(trial: &mut Trial<'_>) -> Step {
    let mut orders = Vec::new();
    for kind in PaymentType::ALL {
        let mut body = trial.body(0, &trial.number(kind.as_str()));
        contents::paid_with(&mut body, kind.as_str());
        orders.push(trial.place(0, &body).await?);
    }
    let mut body = trial.body(0, &trial.number("change"));
    contents::cash_with_change(&mut body);
    orders.push(trial.place(0, &body).await?);
    for order in &orders {
        trial.arrived(order).await?;
    }
    Ok(())
}

pub async fn scheduled(trial: &mut Trial<'_>) -> Step {
    let mut body = trial.body(0, &trial.number(1));
    body["scheduledFor"] = json!(SystemClock.now().plus(Duration::from_secs(7_200)));
    let of_shop = trial.place(0, &body).await?;
    let request = OrderRequest {
        scheduled_in_minutes: Some(120),
        courier: Some(Courier::Restaurant),
        ..Trial::request(Platform::Getir)
    };
    let of_platform = trial.place_on(request).await?;
    let status = trial.world.api.status(&of_platform).await?;
    if ![Status::Scheduled.code(), Status::ScheduledAccepted.code()].contains(&status) {
        return failed(format!(
            "the simulated platform's order has the status {status}, not 325"
        ));
    }
    trial.accept(&of_shop).await?;
    trial.accept(&of_platform).await
}

pub async fn couriers(trial: &mut Trial<'_>) -> Step {
    let with = |platform, courier| OrderRequest {
        courier: Some(courier),
        ..Trial::request(platform)
    };
    let requests = [
        with(Platform::Getir, Courier::Platform),
        with(Platform::Getir, Courier::Restaurant),
        with(Platform::Yemeksepeti, Courier::Platform),
        with(Platform::Trendyol, Courier::Restaurant),
        with(Platform::Migros, Courier::Platform),
    ];
    let mut orders = Vec::new();
    for request in requests {
        orders.push(trial.place_on(request).await?);
    }
    let mut collected = trial.body(1, &trial.number("pickup"));
    collected["fulfilment"] = json!({ "type": "pickup" });
    orders.push(trial.place(1, &collected).await?);
    for order in &orders {
        trial.arrived(order).await?;
    }
    Ok(())
}

pub async fn revision(trial: &mut Trial<'_>) -> Step {
    let number = trial.number(1);
    let mut body = trial.body(0, &number);
    let ayran = json!({ "id": "2", "name": "Ayran", "quantity": 2, "unitPrice": 3_000 });
    if let Some(items) = body["items"].as_array_mut() {
        items.push(ayran);
    }
    body["amount"]["total"] = json!(45_000);
    let order = trial.place(0, &body).await?;
    trial.arrived(&order).await?;
    let mut changed = trial.body(0, &number);
    changed["revision"] = json!(2);
    let [shop, _] = &trial.world.shops;
    trial.world.api.place(shop, &changed).await?;
    trial.delivered(&order, UPDATED).await
}

pub async fn same_number(trial: &mut Trial<'_>) -> Step {
    let request = OrderRequest {
        courier: Some(Courier::Restaurant),
        ..Trial::request(Platform::Getir)
    };
    let first = trial.place_on(request).await?;
    let mut orders = vec![first.clone()];
    for shop in [0, 1] {
        let body = trial.body(shop, &first.number);
        orders.push(trial.place(shop, &body).await?);
    }
    for order in &orders {
        trial.arrived(order).await?;
    }
    Ok(())
}

pub async fn burst(trial: &mut Trial<'_>) -> Step {
    let bodies: Vec<Value> = (1..=BURST).map(|n| trial.body(0, &trial.number(n))).collect();
    let world = trial.world;
    let [shop, _] = &world.shops;
    let placed: Vec<_> = stream::iter(&bodies)
        .map(|body| world.api.place(shop, body))
        .buffer_unordered(PLACED_AT_ONCE)
        .try_collect()
        .await?;
    for order in placed.iter().cloned() {
        trial.add(order);
    }
    for order in &placed {
        trial.delivered(order, CREATED).await?;
    }
    for order in &placed {
        trial
            .accepted_by_pos(order, world.accept_limit + BURST_ALLOWANCE)
            .await?;
    }
    Ok(())
}
