//! The suite that every platform in the registry must pass; it reads the capability and checks what follows.

mod case;
mod control;

pub use case::PlatformCase;

use super::an_order;
use crate::integration::Credentials;
use crate::order::{CallKind, Reason, Status};
use crate::platform::{
    CallError, CallRequest, Claim, HttpResponse, IntakeOutcome, MenuStep, News, PlatformError, Sighting,
    Success, Unreadable, Window,
};
use crate::secret::Secret;
use crate::time::Timestamp;
use case::{BASE, ensure, explain, unsupported};

/// Runs every check; what does not hold is said in the error.
pub fn check_platform(case: &PlatformCase<'_>) -> Result<(), String> {
    genuine_messages_only(case)?;
    new_orders_are_read(case)?;
    all_routes_are_read(case)?;
    broken_bodies_are_named(case)?;
    capability_is_coherent(case)?;
    calls_are_written_or_unsupported(case)?;
    requests_stay_on_the_platform(case)?;
    control::follows_the_capability(case)?;
    refusals_carry_the_platforms_words(case)?;
    replies_tell_success_from_failure(case)
}

fn genuine_messages_only(case: &PlatformCase<'_>) -> Result<(), String> {
    let platform = case.platform;
    let sample = case.first()?;
    ensure(
        platform.verify(sample, &case.credentials).is_some(),
        "a genuine message is refused",
    )?;
    ensure(
        platform.verify(sample, &Credentials::new()).is_none(),
        "no credentials let a message in",
    )?;
    let mut bare = sample.clone();
    bare.headers.clear();
    ensure(
        platform.verify(&bare, &case.credentials).is_none(),
        "a message without headers is let in",
    )?;
    for index in 0..sample.headers.len() {
        let mut forged = sample.clone();
        if let Some((_, value)) = forged.headers.get_mut(index) {
            value.push('x');
        }
        ensure(
            platform.verify(&forged, &case.credentials).is_none(),
            "a forged header is let in",
        )?;
    }
    match platform.claim(sample) {
        Claim::Nothing => Err("a genuine message claims nothing".to_owned()),
        Claim::Branch(branch) => ensure(branch == case.branch, "another branch is claimed"),
        Claim::Secrets(presented) => {
            let shared = platform
                .inbound_secret(&case.credentials)
                .ok_or("no secret to look up")?;
            ensure(
                presented.contains(&shared),
                "the presented secrets lack the one that is looked up",
            )
        }
    }
}

fn new_orders_are_read(case: &PlatformCase<'_>) -> Result<(), String> {
    let couriers = case.platform.capability().couriers;
    ensure(
        case.new_orders.len() == couriers.len(),
        "there is not one sample for each courier",
    )?;
    for (request, courier) in case.new_orders.iter().zip(couriers) {
        let Sighting { order, change, .. } = case.sighting(request)?;
        ensure(!order.identity.is_empty(), "the order has no identity")?;
        ensure(!order.content.items.is_empty(), "the order has no items")?;
        ensure(
            matches!(order.status, Status::New | Status::Scheduled) && change.is_none(),
            "a new order is not new",
        )?;
        ensure(
            order.content.fulfilment.courier == *courier,
            format!("the courier {courier:?} is read wrongly"),
        )?;
    }
    let first = case.sighting(case.first()?)?;
    ensure(
        first.order.provider_order_id == case.provider_order_id,
        "the order id is read wrongly",
    )
}

fn all_routes_are_read(case: &PlatformCase<'_>) -> Result<(), String> {
    for request in case.new_orders.iter().chain(&case.others) {
        let verified = case.platform.verify(request, &case.credentials);
        let verified = verified.ok_or_else(|| format!("the sample of {} is refused", request.kind))?;
        case.platform
            .read(&verified)
            .map_err(|e| format!("{}: {}", request.kind, explain(&e)))?;
    }
    for route in case.platform.hooks() {
        let mut samples = case.new_orders.iter().chain(&case.others);
        ensure(
            samples.any(|sample| sample.kind == route.kind),
            format!("there is no sample of {}", route.kind),
        )?;
    }
    Ok(())
}

/// Cuts and damages the samples at every place: none may panic, and what is refused names a place.
fn broken_bodies_are_named(case: &PlatformCase<'_>) -> Result<(), String> {
    let mut refused = 0;
    for sample in case.new_orders.iter().take(1).chain(&case.others) {
        let whole = sample.body.trim_ascii_end().len();
        for at in 0..sample.body.len() {
            for damage in [None, Some(b'"'), Some(b'}'), Some(0u8), Some(0xff)] {
                let mut broken = sample.clone();
                match damage {
                    None => broken.body.truncate(at),
                    Some(byte) => {
                        if let Some(place) = broken.body.get_mut(at) {
                            *place = byte;
                        }
                    }
                }
                let Some(verified) = case.platform.verify(&broken, &case.credentials) else {
                    continue;
                };
                let read = case.platform.read(&verified);
                let cut_short = damage.is_none() && at < whole;
                if cut_short && read.is_ok_and(|message| message.news != News::Nothing) {
                    return Err(format!("a {} that breaks off at byte {at} is taken", sample.kind));
                }
                if let Err(unreadable) = case.platform.read(&verified) {
                    refused += 1;
                    ensure(
                        !unreadable.path.is_empty() && !unreadable.message.is_empty(),
                        "a refusal names no place",
                    )?;
                }
            }
        }
    }
    ensure(refused > 0, "no damage was noticed")
}

fn capability_is_coherent(case: &PlatformCase<'_>) -> Result<(), String> {
    let platform = case.platform;
    let capability = platform.capability();
    let reasons = platform.fixed_reasons(None);
    let order = an_order(case.provider_order_id);
    let token = Secret::new("token".to_owned());
    let link = case.link(&token);
    let window = Window {
        from: Timestamp::default(),
        to: Timestamp::default(),
    };
    ensure(
        capability.live_reasons || !reasons.is_empty(),
        "neither fixed nor live reasons",
    )?;
    ensure(
        capability.live_reasons != unsupported(&platform.reasons(&order, &link)),
        "live reasons are said but not there, or there but not said",
    )?;
    ensure(
        capability.menu != unsupported(&platform.menu(&link, &[])),
        "a menu is said but not there, or there but not said",
    )?;
    ensure(
        capability.look != unsupported(&platform.look(&order, &link)),
        "looking is said but not there, or there but not said",
    )?;
    ensure(
        capability.polling.is_some() != unsupported(&platform.poll(&link, &window, 0)),
        "polling is said but not there, or there but not said",
    )?;
    ensure(!capability.couriers.is_empty(), "nobody delivers")?;
    ensure(!platform.hooks().is_empty(), "no way in")?;
    ensure(
        reasons.iter().all(|r| !r.id.is_empty() && !r.name.is_empty()),
        "a reason without a name",
    )
}

const CALLS: [CallKind; 7] = [
    CallKind::Verify,
    CallKind::Cancel,
    CallKind::Ready,
    CallKind::Tell(Status::Preparing),
    CallKind::Tell(Status::OnTheWay),
    CallKind::Tell(Status::Delivered),
    CallKind::Tell(Status::Cancelled),
];

/// The status of an order when the call is made.
fn status_at(call: CallKind) -> Status {
    match call {
        CallKind::Verify | CallKind::Cancel => Status::New,
        CallKind::Ready => Status::Preparing,
        CallKind::Tell(status) => status,
    }
}

fn calls_are_written_or_unsupported(case: &PlatformCase<'_>) -> Result<(), String> {
    let platform = case.platform;
    let token = Secret::new("token".to_owned());
    let link = case.link(&token);
    let reason = platform.fixed_reasons(None).into_iter().next().unwrap_or(Reason {
        id: "1".to_owned(),
        name: "one".to_owned(),
    });
    for call in CALLS {
        for order in case.orders(status_at(call))? {
            let wanted = platform.wants(call, &order, &case.credentials);
            let is_question = matches!(call, CallKind::Verify | CallKind::Cancel);
            ensure(
                !is_question || wanted == platform.capability().asks,
                "a platform that asks does not want to be asked, or the other way round",
            )?;
            let call_request = CallRequest {
                call,
                order: &order,
                reason: Some(&reason),
                note: Some("not"),
                preparation_minutes: Some(20),
                now: Timestamp::default(),
            };
            match platform.write(&call_request, &link) {
                Ok(request) => ensure(request.url.starts_with("http"), "a request without an address")?,
                Err(PlatformError::Unsupported { .. }) => {
                    ensure(!wanted, format!("{call:?} is wanted and unsupported"))?;
                }
                Err(error) => return Err(format!("{call:?}: {error}")),
            }
            if wanted {
                outcomes_are_told_apart(case, call)?;
            }
        }
    }
    Ok(())
}

fn outcomes_are_told_apart(case: &PlatformCase<'_>, call: CallKind) -> Result<(), String> {
    let token = Secret::new("token".to_owned());
    let outcome = |status| {
        let body = Vec::new();
        case.platform
            .outcome(call, &case.link(&token), &HttpResponse { status, body })
    };
    ensure(outcome(200) == Ok(Success::Done), "200 is not success")?;
    for status in [500, 502, 503, 504] {
        ensure(
            matches!(
                outcome(status),
                Err(CallError::Later { .. } | CallError::Unclear { .. })
            ),
            format!("{status} is not worth another try"),
        )?;
    }
    ensure(
        matches!(outcome(429), Err(CallError::Later { .. })),
        "429 is not worth another try",
    )?;
    // Gateways return these temporarily, too.
    for status in [401, 403, 404, 411] {
        ensure(
            !matches!(outcome(status), Ok(_) | Err(CallError::Refused { .. })),
            format!("one {status} is final"),
        )?;
    }
    // Another change of the order may be in progress on the platform.
    ensure(
        !case.platform.capability().asks
            || !matches!(outcome(409), Ok(Success::Done) | Err(CallError::Refused { .. })),
        "one 409 is final",
    )?;
    ensure(
        matches!(outcome(422), Err(CallError::Refused { .. })),
        "422 is not a refusal",
    )
}

/// Addresses that the operator did not write are judged, or are not used.
fn requests_stay_on_the_platform(case: &PlatformCase<'_>) -> Result<(), String> {
    use crate::platform::Trust;
    let token = Secret::new("token".to_owned());
    let link = case.link(&token);
    let known = case.platform.capability().limits;
    let mut requests = Vec::new();
    for call in CALLS {
        for order in case.orders(status_at(call))? {
            let call_request = CallRequest {
                call,
                order: &order,
                reason: None,
                note: None,
                preparation_minutes: None,
                now: Timestamp::default(),
            };
            requests.extend(case.platform.write(&call_request, &link).ok());
            requests.extend(case.platform.look(&order, &link).ok());
            requests.extend(case.platform.reasons(&order, &link).ok());
        }
    }
    let window = Window {
        from: Timestamp::default(),
        to: Timestamp::default(),
    };
    requests.extend(case.platform.poll(&link, &window, 0).ok());
    requests.extend(case.platform.login(&link).ok().flatten());
    requests.extend(case.platform.enlist(&link).ok().flatten());
    if let Ok(MenuStep::Ask(request)) = case.platform.menu(&link, &[]) {
        requests.push(request);
    }
    for request in requests {
        let at_home = request.url.starts_with(&format!("{BASE}/"));
        ensure(
            at_home || request.trust == Trust::Account,
            format!("{} is trusted, but the operator did not write it", request.url),
        )?;
        let limit = request.limit;
        ensure(
            limit.is_none_or(|name| known.iter().any(|limit| limit.name == name)),
            format!("the limit {limit:?} is not in the capability"),
        )?;
    }
    Ok(())
}

fn refusals_carry_the_platforms_words(case: &PlatformCase<'_>) -> Result<(), String> {
    ensure(!case.refusals.is_empty(), "no sample of a refusal")?;
    let token = Secret::new("token".to_owned());
    for (status, body, word) in &case.refusals {
        let response = HttpResponse {
            status: *status,
            body: body.as_bytes().to_vec(),
        };
        let call = if case.platform.capability().asks {
            CallKind::Verify
        } else {
            CallKind::Tell(Status::Preparing)
        };
        match case.platform.outcome(call, &case.link(&token), &response) {
            Err(CallError::Refused { message } | CallError::RetryableRefusal { message, .. })
                if message.to_string().contains(word) => {}
            other => return Err(format!("{status} {body}: {other:?}")),
        }
    }
    Ok(())
}

fn replies_tell_success_from_failure(case: &PlatformCase<'_>) -> Result<(), String> {
    let order_id = an_order("1").id;
    let status = |reception| case.platform.reply(&reception, "request").status;
    for taken in [IntakeOutcome::Taken { order_id }, IntakeOutcome::Noted] {
        ensure(
            (200..300).contains(&status(taken)),
            "what was taken is not a success",
        )?;
    }
    ensure(
        status(IntakeOutcome::NotGenuine) == 401,
        "a forged message is not answered 401",
    )?;
    let unreadable = Unreadable {
        path: "$".to_owned(),
        message: "broken".to_owned(),
    };
    for failed in [
        IntakeOutcome::Unreadable(unreadable),
        IntakeOutcome::UnknownBranch {
            branch: "x".to_owned(),
        },
        IntakeOutcome::UnknownOrder {
            identity: "x".to_owned(),
        },
    ] {
        ensure(
            status(failed.clone()) >= 400,
            format!("{failed:?} is answered with success"),
        )?;
    }
    Ok(())
}
