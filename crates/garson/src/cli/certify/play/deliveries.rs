//! Scenarios about repeats, the order of events, and cancellations.

use crate::cli::certify::api::Placed;
use crate::cli::certify::relay::Action;
use crate::cli::certify::trial::{Step, Trial, failed};
use garson_core::event::{CANCELLED, CREATED};
use garson_core::order::Status;
use garson_sim::Platform;
use garson_sim::views::{Courier, Fault, FaultRequest, OrderRequest};

pub async fn duplicate_event(trial: &mut Trial<'_>) -> Step {
    let number = trial.number(1);
    trial.rule(&number, Some(CREATED), Action::Repeat, 1);
    let body = trial.body(0, &number);
    let order = trial.place(0, &body).await?;
    trial.delivered_times(&order, CREATED, 3).await?;
    trial.arrived(&order).await
}

pub async fn duplicate_push(trial: &mut Trial<'_>) -> Step {
    let fault = FaultRequest {
        platform: Platform::Getir,
        on: "push".to_owned(),
        fault: Fault::Duplicate,
        order: None,
        times: Some(1),
    };
    trial.world.control.order_fault(&fault).await?;
    let request = OrderRequest {
        courier: Some(Courier::Restaurant),
        ..Trial::request(Platform::Getir)
    };
    let order = trial.place_on(request).await?;
    trial.accept(&order).await?;
    // The second push has been handled by now, since the order has gone on.
    let events = trial.log_of(&order, CREATED).len();
    match events {
        1 => Ok(()),
        count => failed(format!(
            "{count} events were sent for an order that was pushed twice"
        )),
    }
}

pub async fn out_of_order(trial: &mut Trial<'_>) -> Step {
    let number = trial.number(1);
    trial.rule(&number, Some(CREATED), Action::Withhold, 2);
    let body = trial.body(0, &number);
    let order = trial.place(0, &body).await?;
    let [shop, _] = &trial.world.shops;
    trial.world.api.cancel(shop, &order, "No longer needed").await?;
    trial.delivered(&order, CANCELLED).await?;
    trial.delivered(&order, CREATED).await?;
    let log = trial.evidence();
    let taken = log.iter().filter(|entry| entry.reply.is_some());
    let sequence: Vec<i64> = taken.map(|entry| entry.head.sequence).collect();
    if sequence.first() != Some(&2) {
        return failed(format!(
            "the events came in the order {sequence:?}, so nothing was tested"
        ));
    }
    must_be_cancelled(trial, &order).await
}

pub async fn cancel_before_accept(trial: &mut Trial<'_>) -> Step {
    let number = trial.number(1);
    // The POS hears of the order when it is cancelled already.
    trial.rule(&number, Some(CREATED), Action::Withhold, 1);
    let body = trial.body(0, &number);
    let order = trial.place(0, &body).await?;
    let [shop, _] = &trial.world.shops;
    trial.world.api.cancel(shop, &order, "Wrong address").await?;
    trial.delivered(&order, CREATED).await?;
    trial.delivered(&order, CANCELLED).await?;
    must_be_cancelled(trial, &order).await
}

pub async fn cancel_after_accept(trial: &mut Trial<'_>) -> Step {
    let order = trial.place_plain(1).await?;
    trial.accept(&order).await?;
    let [shop, _] = &trial.world.shops;
    let note = "Çok beklettiniz, başka yerden sipariş verdim. ".repeat(40);
    trial.world.api.cancel(shop, &order, note.trim()).await?;
    trial.delivered(&order, CANCELLED).await?;
    must_be_cancelled(trial, &order).await
}

pub async fn cancel_on_the_way(trial: &mut Trial<'_>) -> Step {
    let request = OrderRequest {
        courier: Some(Courier::Restaurant),
        ..Trial::request(Platform::Trendyol)
    };
    let order = trial.place_on(request).await?;
    trial.accept(&order).await?;
    trial.advance_to(&order, Status::OnTheWay).await?;
    let control = &trial.world.control;
    control
        .cancel(Platform::Trendyol, &order.number, "platform")
        .await?;
    trial.delivered(&order, CANCELLED).await?;
    must_be_cancelled(trial, &order).await
}

async fn must_be_cancelled(trial: &Trial<'_>, order: &Placed) -> Step {
    match trial.world.api.status(order).await? {
        status if status >= Status::CancelledByPlatform.code() => Ok(()),
        status => failed(format!(
            "{} has the status {status} after its cancellation",
            order.number
        )),
    }
}
