//! The restaurant's own web shop: a few orders, in every state that there is.

use crate::app::App;
use crate::cli::command::{CommandError, failed};
use crate::flow::By;
use crate::flow::intake::receive::receive;
use crate::flow::order_actions::act;
use garson_core::id::{AccountId, OrderId};
use garson_core::platform::{HookRequest, IntakeOutcome, Platform};
use serde_json::{Value, json};
use std::sync::Arc;

pub const SHOP_KEY: &str = "demo-shop-key";
pub const STORE: &str = "moda-1";

/// Name, quantity and unit price of what is ordered, the way of paying, and the customer.
type Sample = (&'static [(&'static str, i64, i64)], &'static str, &'static str);

const SAMPLES: [Sample; 5] = [
    (
        &[("Lahmacun", 3, 9_000), ("Ayran", 3, 3_000)],
        "cash",
        "Ayşe Çağlar",
    ),
    (&[("İskender", 1, 42_000)], "online_card", "Mehmet Şahin"),
    (
        &[("Karışık pide", 2, 24_000), ("Künefe", 1, 18_000)],
        "card_on_delivery",
        "İpek Yıldırım",
    ),
    (
        &[("Mercimek çorbası", 2, 8_500)],
        "meal_card_on_delivery",
        "Oğuz Güneş",
    ),
    (
        &[("Adana dürüm 🌯", 1, 17_500), ("Şalgam", 1, 3_500)],
        "cash",
        "Zeynep Öztürk",
    ),
];

/// Places the sample orders: the first has been delivered, the second is on its way, and so on.
pub async fn open(app: &Arc<App>, account: AccountId) -> Result<(), CommandError> {
    for (number, sample) in SAMPLES.iter().enumerate() {
        let order = place(app, number + 1, sample).await?;
        for _ in 0..3usize.saturating_sub(number) {
            act::advance(app, By::operator(account, "demo"), order.to_string(), None)
                .await
                .map_err(failed)?;
        }
    }
    Ok(())
}

/// Sends a sample order in, the same way as a shop does.
async fn place(app: &Arc<App>, number: usize, sample: &Sample) -> Result<OrderId, CommandError> {
    let direct: &'static dyn Platform =
        garson_platforms::find("direct").ok_or_else(|| CommandError("no direct platform".to_owned()))?;
    let kind = direct.hooks().first().map_or("order", |route| route.kind);
    let request = HookRequest {
        kind,
        headers: vec![("x-api-key".to_owned(), SHOP_KEY.to_owned())],
        body: body(number, sample).to_string().into_bytes(),
        ..HookRequest::default()
    };
    let why = match receive(app, direct, request).await.map_err(failed)? {
        IntakeOutcome::Taken { order_id } => return Ok(order_id),
        IntakeOutcome::Noted => "it was not recognised as an order".to_owned(),
        IntakeOutcome::Conflict { order_id } => format!("order {order_id} has its number and other content"),
        IntakeOutcome::UnknownBranch { branch } => format!("no integration has the branch {branch}"),
        IntakeOutcome::UnknownOrder { identity } => format!("the order {identity} is not known"),
        IntakeOutcome::Unreadable(fault) => format!("{} {}", fault.path, fault.message),
        IntakeOutcome::NotGenuine => "its key is wrong".to_owned(),
    };
    Err(CommandError(format!("a sample order was refused: {why}")))
}

fn body(number: usize, (lines, payment, customer): &Sample) -> Value {
    let items: Vec<Value> = lines
        .iter()
        .map(|(name, quantity, price)| json!({ "name": name, "quantity": quantity, "unitPrice": price }))
        .collect();
    let total: i64 = lines.iter().map(|(_, quantity, price)| quantity * price).sum();
    json!({
        "storeId": STORE,
        "providerOrderId": format!("WEB-{number}"),
        "shortCode": format!("{number:03}"),
        "items": items,
        "customer": { "name": customer, "address": { "text": "Moda", "city": "İstanbul", "district": "Kadıköy" } },
        "amount": { "total": total },
        "payment": { "type": payment, "isPaid": *payment == "online_card" },
    })
}
