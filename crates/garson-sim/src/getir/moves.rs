//! What a restaurant may do with a Getir order, and when.

use serde_json::{Value, json};

use super::{
    errors::{Answer, Refusal},
    orders,
    states::{
        CANCELLED_BY_RESTAURANT, DELIVERED, HANDED_OVER, NEW, ON_THE_WAY, PREPARED, PREPARING, REACHED,
        SCHEDULED, SCHEDULED_ACCEPTED,
    },
};
use crate::{
    call::Call,
    order::{Cancellation, Order},
    store::Store,
    views::Courier,
    world::World,
};

/// Makes one of the moves.
pub(super) fn make(world: &mut World, call: &Call, operation: &str, number: u64, store: &Store) -> Answer {
    let now = world.now();
    let gap = i64::try_from(world.settings.getir_gap_seconds).unwrap_or(i64::MAX);
    let Some(order) = world.orders.get(number) else {
        return Err(Refusal::order_not_found());
    };
    if operation == "cancel" {
        return cancel(world, call, number);
    }
    if order.cancellation.is_some() {
        return Err(Refusal::rule(
            13,
            "FoodOrderAlreadyCancelled",
            "the order is cancelled",
        ));
    }
    let too_early = |stamp: &str| {
        order
            .seconds_since(stamp, now)
            .is_some_and(|seconds| seconds < gap)
    };
    let (state, stamp) = match operation {
        "verify" => {
            if store.quirks.pos_status != 100 {
                return Err(Refusal::rule(
                    79,
                    "CannotVerifyBeforeActivation",
                    "posStatus is passive",
                ));
            }
            (verify(order, NEW, PREPARING)?, "verifyDate")
        }
        "verify-scheduled" => (
            verify(order, SCHEDULED, SCHEDULED_ACCEPTED)?,
            "scheduleVerifiedDate",
        ),
        "prepare" => {
            expect(order, PREPARING)?;
            if too_early("verifyDate") {
                return Err(Refusal::rule(74, "CannotPrepareYet", "too early after verify"));
            }
            (
                if order.courier == Courier::Platform {
                    PREPARED
                } else {
                    ON_THE_WAY
                },
                "prepareDate",
            )
        }
        "handover" => {
            expect(order, PREPARED)?;
            after_prepare(too_early("prepareDate"))?;
            (HANDED_OVER, "handoverDate")
        }
        _ => {
            if order.courier == Courier::Platform {
                return Err(Refusal::rule(
                    3,
                    "FoodOrderStatusInvalid",
                    "Getir's courier delivers this order",
                ));
            }
            expect(order, ON_THE_WAY)?;
            after_prepare(too_early("prepareDate"))?;
            (DELIVERED, "deliverDate")
        }
    };
    world.stamp(number, stamp);
    world.enter(number, state, "api");
    Ok(json!({"result": true}))
}

/// An answer to a new order; one that was answered before says so.
fn verify(order: &Order, from: &str, to: &'static str) -> Result<&'static str, Refusal> {
    let answered = [PREPARING, PREPARED, HANDED_OVER, ON_THE_WAY, REACHED, DELIVERED];
    let again = order.state == to || answered.contains(&order.state.as_str());
    if again {
        return Err(Refusal::rule(
            2,
            "FoodOrderAlreadyVerified",
            "the order was verified before",
        ));
    }
    expect(order, from).map(|()| to)
}

fn expect(order: &Order, state: &str) -> Result<(), Refusal> {
    if order.state == state {
        Ok(())
    } else {
        Err(Refusal::rule(
            3,
            "FoodOrderStatusInvalid",
            format!("the order is at {}", order.state),
        ))
    }
}

fn after_prepare(too_early: bool) -> Result<(), Refusal> {
    if too_early {
        Err(Refusal::rule(62, "CannotDeliverYet", "too early after prepare"))
    } else {
        Ok(())
    }
}

/// The reasons that Getir accepts for this order in its current state.
fn reasons(order: &Order) -> Vec<(String, &'static str)> {
    let at_restaurant =
        [SCHEDULED, SCHEDULED_ACCEPTED, NEW, PREPARING, PREPARED].contains(&order.state.as_str());
    let on_own_way = order.courier == Courier::Restaurant && order.state == ON_THE_WAY;
    let mut reasons = Vec::new();
    if at_restaurant {
        reasons.push(("5c5b49a768f6a45d427f0a8e".to_owned(), "Ürün mevcut değil"));
        reasons.push((
            "5f05b13f2765e85c5d0432d3".to_owned(),
            "Restoranda teknik bir sorun var",
        ));
    }
    if order.courier == Courier::Restaurant && (at_restaurant || on_own_way) {
        reasons.push((
            "5e1469f7916c7a55cfc2aede".to_owned(),
            "Adres servis bölgesi dışında",
        ));
    }
    if on_own_way {
        reasons.push((reason_id("nobody at the door"), "Müşteri adreste yok"));
    }
    reasons
}

pub(super) fn reason_id(text: &str) -> String {
    orders::hex(&format!("reason {text}"))
}

pub(super) fn cancel_options(order: &Order) -> Value {
    reasons(order)
        .into_iter()
        .map(|(id, message)| json!({"id": id, "message": message}))
        .collect()
}

fn cancel(world: &mut World, call: &Call, number: u64) -> Answer {
    let body = if call.body.is_empty() {
        json!({})
    } else {
        call.json().map_err(Refusal::invalid)?
    };
    let text = |name: &str| match &body[name] {
        Value::Null => Ok(""),
        Value::String(text) => Ok(text.as_str()),
        _ => Err(Refusal::invalid(format!("{name} must be a text"))),
    };
    let (reason_id, note, product) = (text("cancelReasonId")?, text("cancelNote")?, text("productId")?);
    let Some(order) = world.orders.get_mut(number) else {
        return Err(Refusal::order_not_found());
    };
    if order.cancellation.is_some() {
        return Err(Refusal::rule(
            13,
            "FoodOrderAlreadyCancelled",
            "the order is cancelled",
        ));
    }
    let reasons = reasons(order);
    if reasons.is_empty() {
        let message = format!("an order at {} cannot be cancelled", order.state);
        return Err(Refusal::rule(11, "FoodOrderCanNotBeCancelled", message));
    }
    let Some((id, reason)) = reasons.into_iter().find(|(id, _)| id == reason_id) else {
        return Err(Refusal::rule(
            59,
            "FoodOrderNotHaveCancelReason",
            "cancelReasonId is not among the cancel options",
        ));
    };
    if !product.is_empty()
        && !order
            .basket
            .lines
            .iter()
            .any(|line| line.product.hex() == product)
    {
        return Err(Refusal::invalid("productId is not in the order"));
    }
    order.cancellation = Some(Cancellation {
        by: "restaurant".to_owned(),
        reason_id: id,
        reason: reason.to_owned(),
        note: note.to_owned(),
    });
    world.stamp(number, "cancelDate");
    world.enter(number, CANCELLED_BY_RESTAURANT, "api");
    Ok(json!({"result": true}))
}
