//! Scenarios about failures between Garson and the POS, and about events that a POS does not know.

use crate::cli::certify::relay::Action;
use crate::cli::certify::trial::{Step, Trial, failed};
use garson_core::clock::{Clock, SystemClock};
use garson_core::event::{CANCELLED, CREATED};
use garson_core::id::EventId;
use serde_json::{Value, json};
use std::sync::Arc;

pub async fn lost_answer(trial: &mut Trial<'_>) -> Step {
    let number = trial.number(1);
    trial.rule(&number, Some(CREATED), Action::LoseAnswer, 1);
    let body = trial.body(0, &number);
    let order = trial.place(0, &body).await?;
    trial.delivered_times(&order, CREATED, 2).await?;
    trial.arrived(&order).await
}

pub async fn outage(trial: &mut Trial<'_>) -> Step {
    let mut orders = Vec::new();
    for n in 1..=3 {
        let number = trial.number(n);
        trial.rule(&number, None, Action::Withhold, 2);
        let body = trial.body(0, &number);
        orders.push(trial.place(0, &body).await?);
    }
    for order in &orders {
        trial.arrived(order).await?;
    }
    Ok(())
}

pub async fn slow_sender(trial: &mut Trial<'_>) -> Step {
    let number = trial.number(1);
    trial.rule(&number, Some(CREATED), Action::SendSlowly, 1);
    let body = trial.body(0, &number);
    let order = trial.place(0, &body).await?;
    trial.arrived(&order).await?;
    for n in 2..=3 {
        let next = trial.place_plain(n).await?;
        trial.arrived(&next).await?;
    }
    Ok(())
}

pub async fn unknown_fields(trial: &mut Trial<'_>) -> Step {
    let number = trial.number(1);
    trial.rule(&number, None, Action::AddFields, 9);
    let body = trial.body(0, &number);
    let order = trial.place(0, &body).await?;
    trial.arrived(&order).await
}

pub async fn unknown_kind(trial: &mut Trial<'_>) -> Step {
    let order = trial.place_plain(1).await?;
    trial.arrived(&order).await?;
    let log = trial.log_of(&order, CREATED);
    let Some(known) = log.first() else {
        return failed("the event was not recorded");
    };
    let now = SystemClock.now();
    let id = EventId::at(now).to_string();
    let mut event: Value = serde_json::from_str(&known.body)?;
    event["olay"] = json!("garson.bilinmeyen_olay");
    event["veri"]["id"] = json!(id);
    event["veri"]["sequence"] = json!(9);
    event["veri"]["occurredAt"] = json!(now);
    let event = event.to_string();
    let reply = trial.pos()?.post(&id, &event).await;
    let is_taken = reply.is_success();
    let shown = reply.to_string();
    trial.record(&event, "of an unknown kind", reply);
    if is_taken {
        Ok(())
    } else {
        failed(format!("an event of an unknown kind: {shown}"))
    }
}

pub async fn restart(trial: &mut Trial<'_>) -> Step {
    let number = trial.number(1);
    // The POS gets this event, and Garson is killed before it learns of that.
    trial.rule(&number, Some(CREATED), Action::HoldAnswer, 1);
    let body = trial.body(0, &number);
    let mut orders = vec![trial.place(0, &body).await?];
    for n in 2..=4 {
        let number = trial.number(n);
        trial.rule(&number, Some(CREATED), Action::Withhold, 1);
        let body = trial.body(0, &number);
        orders.push(trial.place(0, &body).await?);
    }
    for order in orders.iter().take(1) {
        trial.delivered(order, CREATED).await?;
    }
    trial.world.kill_service().await;
    trial.world.start_service_again().await?;
    for order in orders.iter().take(1) {
        trial.delivered_times(order, CREATED, 2).await?;
        let log = trial.log_of(order, CREATED);
        if log
            .iter()
            .any(|entry| log.iter().any(|other| other.head.id != entry.head.id))
        {
            return failed("the repeated event has another veri.id");
        }
    }
    for order in &orders {
        trial.arrived(order).await?;
    }
    let after = trial.place_plain("after").await?;
    trial.arrived(&after).await
}

pub async fn redelivery(trial: &mut Trial<'_>) -> Step {
    for n in 1..=5 {
        let order = trial.place_plain(n).await?;
        trial.accept(&order).await?;
        let [shop, _] = &trial.world.shops;
        trial.world.api.cancel(shop, &order, "No longer needed").await?;
        trial.delivered(&order, CANCELLED).await?;
    }
    for before in trial.evidence() {
        let event: Arc<str> = before.body;
        let reply = trial.pos()?.post(&before.head.id, &event).await;
        let is_taken = reply.is_success();
        let shown = reply.to_string();
        trial.record(&event, "once more", reply);
        if !is_taken {
            return failed(format!("a repeat of {}: {shown}", before.head.olay));
        }
    }
    Ok(())
}
