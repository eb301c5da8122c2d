//! The suite that every platform in the registry must pass; it reads the capability and checks what follows.

use super::an_order;
use crate::integration::Credentials;
use crate::order::{CallKind, Status};
use crate::platform::{Claim, HookRequest, HttpResponse, News, Outcome, Platform, PlatformError, Reception};

/// What the suite needs of a platform: credentials, a genuine message of a new order, and where it says what.
pub struct PlatformCase<'a> {
    pub platform: &'a dyn Platform,
    pub credentials: Credentials,
    pub new_order: HookRequest,
    pub branch: &'a str,
    pub provider_order_id: &'a str,
}

/// Runs every check; what does not hold is said in the error.
pub fn check_platform(case: &PlatformCase<'_>) -> Result<(), String> {
    genuine_messages_only(case)?;
    new_orders_are_read(case)?;
    broken_bodies_are_named(case)?;
    capability_is_coherent(case)?;
    calls_are_written_or_unsupported(case)?;
    replies_tell_success_from_failure(case)
}

fn ensure(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

fn genuine_messages_only(case: &PlatformCase<'_>) -> Result<(), String> {
    let platform = case.platform;
    ensure(
        platform.verify(&case.new_order, &case.credentials).is_some(),
        "a genuine message is refused",
    )?;
    ensure(
        platform.verify(&case.new_order, &Credentials::new()).is_none(),
        "no credentials let a message in",
    )?;
    let mut bare = case.new_order.clone();
    bare.headers.clear();
    ensure(
        platform.verify(&bare, &case.credentials).is_none(),
        "a message without headers is let in",
    )?;
    for index in 0..case.new_order.headers.len() {
        let mut forged = case.new_order.clone();
        if let Some((_, value)) = forged.headers.get_mut(index) {
            value.push('x');
        }
        ensure(
            platform.verify(&forged, &case.credentials).is_none(),
            "a forged header is let in",
        )?;
    }
    match platform.claim(&case.new_order) {
        Claim::Nothing => Err("a genuine message claims nothing".to_owned()),
        Claim::Branch(_) => Ok(()),
        Claim::Secret(presented) => {
            let shared = platform.inbound_secret(&case.credentials);
            ensure(
                shared == Some(presented),
                "the presented secret is not the one that is looked up",
            )
        }
    }
}

fn new_orders_are_read(case: &PlatformCase<'_>) -> Result<(), String> {
    let verified = case
        .platform
        .verify(&case.new_order, &case.credentials)
        .ok_or("not genuine")?;
    let message = case
        .platform
        .read(&verified)
        .map_err(|e| format!("{}: {}", e.path, e.message))?;
    ensure(message.branch == case.branch, "the branch is read wrongly")?;
    let News::Arrived(order) = message.news else {
        return Err("a new order is not read as one".to_owned());
    };
    ensure(
        order.provider_order_id == case.provider_order_id,
        "the order id is read wrongly",
    )?;
    ensure(!order.identity.is_empty(), "the order has no identity")?;
    ensure(!order.content.items.is_empty(), "the order has no items")?;
    ensure(
        matches!(order.status, Status::New | Status::Scheduled),
        "a new order is not new",
    )
}

/// Cuts and damages the sample at every place: none may panic, and what is refused names a place.
fn broken_bodies_are_named(case: &PlatformCase<'_>) -> Result<(), String> {
    let mut refused = 0;
    let whole = case.new_order.body.trim_ascii_end().len();
    for at in 0..case.new_order.body.len() {
        for damage in [None, Some(b'"'), Some(b'}'), Some(0u8), Some(0xff)] {
            let mut broken = case.new_order.clone();
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
            let cut_short = damage.is_none() && at < whole;
            if cut_short && case.platform.read(&verified).is_ok() {
                return Err(format!("a body that breaks off at byte {at} is taken"));
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
    ensure(refused > 0, "no damage was noticed")
}

fn capability_is_coherent(case: &PlatformCase<'_>) -> Result<(), String> {
    let capability = case.platform.capability();
    let reasons = case.platform.fixed_reasons();
    ensure(
        capability.live_reasons || !reasons.is_empty(),
        "neither fixed nor live reasons",
    )?;
    ensure(!capability.couriers.is_empty(), "nobody delivers")?;
    ensure(!case.platform.hooks().is_empty(), "no way in")?;
    ensure(
        reasons.iter().all(|r| !r.id.is_empty() && !r.name.is_empty()),
        "a reason without a name",
    )
}

fn calls_are_written_or_unsupported(case: &PlatformCase<'_>) -> Result<(), String> {
    let order = an_order(case.provider_order_id);
    let tells = [
        Status::Preparing,
        Status::OnTheWay,
        Status::Delivered,
        Status::Cancelled,
    ]
    .map(CallKind::Tell);
    for call in [CallKind::Verify, CallKind::Cancel, CallKind::Ready]
        .into_iter()
        .chain(tells)
    {
        let wanted = case.platform.wants(call, &order, &case.credentials);
        match case.platform.write(call, &order, &case.credentials) {
            Ok(request) => ensure(request.url.starts_with("http"), "a request without an address")?,
            Err(PlatformError::Unsupported { .. }) => ensure(!wanted, "a wanted call is unsupported")?,
            Err(error) => return Err(error.to_string()),
        }
        if !wanted {
            continue;
        }
        let outcome = |status| {
            case.platform.outcome(
                call,
                &HttpResponse {
                    status,
                    body: Vec::new(),
                },
            )
        };
        ensure(outcome(200) == Outcome::Done, "200 is not success")?;
        ensure(
            matches!(outcome(503), Outcome::Later { .. }),
            "503 is not worth another try",
        )?;
        ensure(
            matches!(outcome(429), Outcome::Later { .. }),
            "429 is not worth another try",
        )?;
    }
    Ok(())
}

fn replies_tell_success_from_failure(case: &PlatformCase<'_>) -> Result<(), String> {
    let order_id = an_order("1").id;
    let status = |reception| case.platform.reply(&reception, "request").status;
    ensure(
        (200..300).contains(&status(Reception::Taken { order_id })),
        "taken is not a success",
    )?;
    ensure(
        status(Reception::NotGenuine) == 401,
        "a forged message is not answered 401",
    )?;
    let unreadable = crate::platform::Unreadable {
        path: "$".to_owned(),
        message: "broken".to_owned(),
    };
    ensure(
        status(Reception::Unreadable(unreadable)) >= 400,
        "an unreadable message is a success",
    )
}
