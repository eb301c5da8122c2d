//! Reading an order of the other service.

use super::answer::{id, record};
use super::shops::{Shops, provider};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use garson_core::money::{MAX_MINOR, Minor};
use garson_core::order::{
    Actor, Cancellation, ContentChange, Flag, Item, ItemOption, Order, OrderContent, ProviderSync,
    RevisionLine, Status, TimelineLine, TimelineReason,
};
use garson_core::payment::PaymentType;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// No order is older: 1 January 2000.
const EARLIEST: Timestamp = Timestamp::from_millis(946_684_800_000);
const MAX_QUANTITY: i64 = 1_000_000;
const MAX_TEXT: usize = 200;
/// Of what is stored.
const MAX_CONTENT: usize = 1 << 20;
const MAX_LINES: usize = 1_000;

/// An order, before its integration is known.
pub struct ReadOrder {
    pub restaurant: RestaurantId,
    pub provider: Provider,
    pub order: Order,
    pub content: OrderContent,
    pub timeline: Vec<TimelineLine>,
}

/// Why an order is not imported.
#[derive(Debug, PartialEq, Eq)]
pub enum NotImported {
    UnknownRestaurant,
    UnknownPlatform(String),
    Unreadable(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OrderRecord {
    provider: String,
    short_code: Option<String>,
    status: i64,
    provider_status: Option<String>,
    #[serde(default)]
    is_report: bool,
    reported_at: Option<Timestamp>,
    placed_at: Option<Timestamp>,
    accept_by: Option<Timestamp>,
    scheduled_for: Option<Timestamp>,
    ready_at: Option<Timestamp>,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    revision: Option<i64>,
    flag: Option<String>,
    cancellation: Option<Cancellation>,
    timeline: Option<Vec<LineRecord>>,
    provider_sync: Option<SyncRecord>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LineRecord {
    at: Timestamp,
    from: Option<i64>,
    to: i64,
    by: Actor,
    why: Option<String>,
    revision: Option<i64>,
    #[serde(default)]
    changes: Vec<ContentChange>,
}

#[derive(Deserialize)]
struct SyncRecord {
    state: String,
    message: Option<String>,
}

/// Reads an order as its detail shows it.
pub fn read(value: &Value, shops: &Shops) -> Result<ReadOrder, NotImported> {
    let unreadable = NotImported::Unreadable;
    let restaurant = id(value, "restaurantId").map_err(unreadable)?;
    let Some(restaurant) = shops.restaurants.get(&restaurant).copied() else {
        return Err(NotImported::UnknownRestaurant);
    };
    let read: OrderRecord = record(value).map_err(unreadable)?;
    let Some(provider) = provider(&read.provider) else {
        return Err(NotImported::UnknownPlatform(read.provider));
    };
    let content: OrderContent = record(&with_defaults(value)).map_err(unreadable)?;
    check(&content, &read).map_err(unreadable)?;
    let provider_order_id = id(value, "providerOrderId").map_err(unreadable)?;
    let timeline = read.timeline.unwrap_or_default();
    let timeline: Result<Vec<_>, _> = timeline.into_iter().map(line).collect();
    let timeline = timeline.map_err(unreadable)?;
    let arrived = read.created_at.or(read.placed_at);
    let arrived = arrived.ok_or_else(|| unreadable("createdAt: is required".to_owned()))?;
    let status = status("status", read.status).map_err(unreadable)?;
    // Ids are set when it is written.
    let nothing = Uuid::nil();
    let order = Order {
        id: OrderId(nothing),
        account_id: AccountId(nothing),
        restaurant_id: restaurant,
        integration_id: IntegrationId(nothing),
        provider,
        identity: provider_order_id.clone(),
        provider_order_id,
        short_code: read.short_code,
        status,
        provider_status: read.provider_status,
        provider_data: None,
        sequence: 0,
        total: content.amount.total,
        currency: content.amount.currency,
        payment_type: content.payment.kind,
        payment_code: content.payment.provider_code.clone(),
        placed_at: read.placed_at.unwrap_or(arrived),
        accept_by: read.accept_by,
        scheduled_for: read.scheduled_for,
        ready_at: read.ready_at,
        reported_at: read
            .reported_at
            .or(read.is_report.then(|| read.updated_at.unwrap_or(arrived))),
        created_at: arrived,
        updated_at: arrived,
        revision: read.revision.unwrap_or(1).max(1),
        content_version: None,
        cancellation: read.cancellation,
        preparation_minutes: None,
        sync: sync(read.provider_sync),
        flag: read.flag.and_then(|name| Flag::named(&name)),
    };
    Ok(ReadOrder {
        restaurant,
        provider,
        order,
        content,
        timeline,
    })
}

/// What the platform knows. What was pending there is not done from here.
fn sync(read: Option<SyncRecord>) -> ProviderSync {
    match read {
        Some(SyncRecord { state, .. }) if state == "done" => ProviderSync::Done,
        Some(SyncRecord { state, message }) if state == "failed" => ProviderSync::Failed {
            message: Explanation::text(message.unwrap_or_default()),
        },
        _ => ProviderSync::NotNeeded,
    }
}

fn status(field: &str, code: i64) -> Result<Status, String> {
    Status::from_code(code).ok_or_else(|| format!("{field}: {code} is no status"))
}

fn line(read: LineRecord) -> Result<TimelineLine, String> {
    let from = read.from.map(|code| status("timeline.from", code)).transpose()?;
    Ok(TimelineLine {
        at: read.at,
        from,
        to: status("timeline.to", read.to)?,
        by: read.by,
        why: read.why.map(reason),
        revision: read.revision.map(|revision| RevisionLine {
            revision,
            changes: read.changes,
        }),
    })
}

/// The reason that has this English text, so that it is shown in the reader's language.
fn reason(text: String) -> TimelineReason {
    use TimelineReason as Reason;
    let known = [
        Reason::Arrived,
        Reason::Verified,
        Reason::VerifiedAutomatically,
        Reason::PreApprovedAndDue,
        Reason::Advanced,
        Reason::Reported,
        Reason::Revised,
        Reason::UnknownToPlatform,
        Reason::KnownToPlatformAgain,
        Reason::Cancelled,
        Reason::EscalationRang,
        Reason::EscalationVerified,
        Reason::EscalationCancelled,
        Reason::EscalationCancelFailed,
    ];
    let found = known.into_iter().find(|reason| reason.to_string() == text);
    found.unwrap_or(Reason::Text { text })
}

/// The parts of the content, with what a service may leave out.
fn with_defaults(value: &Value) -> Value {
    // A wrong total is named as such below.
    let subtotal = value["amount"]["total"].as_i64().unwrap_or_default();
    let mut content = json!({
        "note": value["note"],
        "fulfilment": filled(&value["fulfilment"], json!({ "type": "delivery", "courier": "none" })),
        "customer": filled(&value["customer"], json!({})),
        "items": value["items"],
        "amount": filled(
            &value["amount"],
            json!({
                "currency": "TRY", "subtotal": subtotal, "discount": 0, "deliveryFee": 0, "tip": 0, "discounts": [],
            }),
        ),
        "payment": filled(&value["payment"], json!({ "type": "other", "isPaid": false, "collect": 0 })),
        "storefront": value["storefront"],
    });
    let no_flags = json!({ "doNotRing": false, "dropAtDoor": false, "noCutlery": false });
    content["fulfilment"]["flags"] = filled(&content["fulfilment"]["flags"], no_flags);
    if let Some(kind) = content["payment"]["type"].as_str()
        && PaymentType::named(kind).is_none()
    {
        content["payment"]["type"] = PaymentType::Other.as_str().into();
    }
    if value["readingNotes"].is_array() {
        content["readingNotes"] = value["readingNotes"].clone();
    }
    if let Some(items) = content["items"].as_array_mut() {
        for item in items {
            fill_options(item);
        }
    }
    content
}

/// The options of an item or of an option; the nesting was limited when the answer was read.
fn fill_options(of: &mut Value) {
    if !of.is_object() {
        return;
    }
    if of["options"].is_null() {
        of["options"] = json!([]);
    }
    if let Some(options) = of["options"].as_array_mut() {
        for option in options {
            *option = filled(option, json!({ "quantity": 1, "price": 0, "removed": false }));
            fill_options(option);
        }
    }
}

/// An object with these values where it has none.
fn filled(value: &Value, defaults: Value) -> Value {
    let mut value = match value {
        Value::Null => json!({}),
        other => other.clone(),
    };
    if let (Some(fields), Value::Object(defaults)) = (value.as_object_mut(), defaults) {
        for (name, default) in defaults {
            let field = fields.entry(name).or_insert(Value::Null);
            if field.is_null() {
                *field = default;
            }
        }
    }
    value
}

fn check(content: &OrderContent, read: &OrderRecord) -> Result<(), String> {
    let amount = &content.amount;
    let fixed = [
        ("amount.subtotal", amount.subtotal),
        ("amount.discount", amount.discount),
        ("amount.deliveryFee", amount.delivery_fee),
        ("amount.tip", amount.tip),
        ("amount.total", amount.total),
        ("amount.adjustment", amount.adjustment.unwrap_or_default()),
        ("payment.collect", content.payment.collect),
    ];
    let discounts = amount.discounts.iter().map(|it| ("amount.discounts", it.amount));
    for (field, amount) in fixed.into_iter().chain(discounts) {
        check_amount(field, amount)?;
    }
    for item in &content.items {
        check_item(item)?;
    }
    let size = serde_json::to_string(content).map_or(usize::MAX, |json| json.len());
    if size > MAX_CONTENT {
        return Err(format!("the order is larger than {} MiB", MAX_CONTENT >> 20));
    }
    let texts = [
        ("shortCode", &read.short_code),
        ("providerStatus", &read.provider_status),
    ];
    for (field, text) in texts {
        if text.as_ref().is_some_and(|text| text.len() > MAX_TEXT) {
            return Err(format!("{field}: is longer than {MAX_TEXT} bytes"));
        }
    }
    if read
        .timeline
        .as_ref()
        .is_some_and(|lines| lines.len() > MAX_LINES)
    {
        return Err(format!("timeline: has more than {MAX_LINES} lines"));
    }
    let times = [("createdAt", read.created_at), ("placedAt", read.placed_at)];
    for (field, time) in times {
        if time.is_some_and(|time| time < EARLIEST) {
            return Err(format!("{field}: is before the year 2000"));
        }
    }
    Ok(())
}

fn check_amount(field: &str, Minor(amount): Minor) -> Result<(), String> {
    if amount.unsigned_abs() > MAX_MINOR.unsigned_abs() {
        return Err(format!("{field}: is larger than an amount may be"));
    }
    Ok(())
}

fn check_item(item: &Item) -> Result<(), String> {
    check_amount("items.unitPrice", item.unit_price)?;
    check_amount("items.total", item.total)?;
    check_quantity("items.quantity", item.quantity)?;
    item.options.iter().try_for_each(check_option)
}

fn check_option(option: &ItemOption) -> Result<(), String> {
    check_amount("items.options.price", option.price)?;
    check_quantity("items.options.quantity", option.quantity)?;
    option.options.iter().try_for_each(check_option)
}

fn check_quantity(field: &str, quantity: i64) -> Result<(), String> {
    if quantity.unsigned_abs() > MAX_QUANTITY.unsigned_abs() {
        return Err(format!("{field}: is larger than a quantity may be"));
    }
    Ok(())
}
