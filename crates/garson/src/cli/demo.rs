//! `garson demo`: the service with a sample account and sample orders, to look around.

use super::{CommandError, Options, Outcome, failed, print_line, runtime, serve};
use crate::app::{App, lock_data};
use crate::flow::integrations::IntegrationChange;
use crate::flow::receive::receive;
use crate::flow::{accounts, act, businesses, integrations, restaurants};
use crate::telemetry;
use garson_core::business::BusinessFields;
use garson_core::id::{AccountId, BusinessId, KeyId, OrderId, RestaurantId};
use garson_core::platform::{HookRequest, Platform, Reception};
use garson_core::restaurant::RestaurantFields;
use garson_core::secret::Secret;
use serde_json::{Value, json};
use std::sync::Arc;

const EMAIL: &str = "demo@example.com";
const SHOP_KEY: &str = "demo-shop-key";
const STORE: &str = "moda-1";

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

pub fn demo(options: Options, args: serve::ServeArgs) -> Outcome {
    let mut settings = options.load(&args)?;
    // A demo starts fresh each time, in a folder of its own, unless one is named.
    let own_folder = options.data.is_none();
    if own_folder {
        settings.data = std::env::temp_dir().join(format!("garson-demo-{}", std::process::id()));
    }
    settings.allow_private_targets = true;
    telemetry::start_log(&settings.log);
    let folder = settings.data.clone();
    let _lock = lock_data(&settings)?;
    let app = App::open(settings)?;
    let ended = runtime()?.block_on(async {
        let listener = serve::listen(&app).await?;
        let address = listener.local_addr()?;
        let (key, restaurant) = prepare(&app).await?;
        let shown = app.settings.data.display().to_string();
        serve::run(app, listener, || {
            introduce(&address.to_string(), &key, restaurant, &shown)
        })
        .await
    });
    if own_folder {
        // Only what this demo made, in a folder that carries its process's number.
        std::fs::remove_dir_all(&folder)?;
    }
    ended
}

/// A sample account with orders in several states; one that is there already gets a new key.
async fn prepare(app: &Arc<App>) -> Result<(Secret<String>, RestaurantId), CommandError> {
    if let Ok(account) = accounts::by_email(app, EMAIL).await {
        let key = accounts::issue_key(app, account.id, KeyId::at(app.now()), Some("demo".to_owned()))
            .await
            .map_err(failed)?;
        let known = restaurants::list(app, account.id, None).await.map_err(failed)?;
        let id = known
            .first()
            .map(|r| r.id)
            .ok_or_else(|| CommandError("the demo account is empty".to_owned()))?;
        return Ok((key.secret, id));
    }
    let name = "Demo Lokantaları".to_owned();
    let (account, key) = accounts::create(app, name, EMAIL, None).await.map_err(failed)?;
    let restaurant = connect(app, account.id).await?;
    for (number, sample) in SAMPLES.iter().enumerate() {
        let order = place(app, number + 1, sample).await?;
        // The first has been delivered, the second is on its way, and so on: something to see in every state.
        for _ in 0..3usize.saturating_sub(number) {
            act::advance(app, account.id, order.to_string(), None)
                .await
                .map_err(failed)?;
        }
    }
    Ok((key.secret, restaurant))
}

async fn connect(app: &App, account: AccountId) -> Result<RestaurantId, CommandError> {
    let now = app.now();
    let fields = BusinessFields {
        name: "Demo Gıda A.Ş.".to_owned(),
        ..BusinessFields::default()
    };
    let business = businesses::create(app, account, BusinessId::at(now), fields)
        .await
        .map_err(failed)?;
    let fields = RestaurantFields {
        business_id: Some(business.id),
        name: "Moda Lokantası".to_owned(),
        address: Some("Caferağa Mah. Moda Cad. 12, Kadıköy, İstanbul".to_owned()),
        ..RestaurantFields::default()
    };
    let restaurant = restaurants::create(app, account, RestaurantId::at(now), fields)
        .await
        .map_err(failed)?;
    let change = IntegrationChange {
        is_active: Some(true),
        remote_id: Some(Some(STORE.to_owned())),
        credentials: Some(vec![(
            "inboundKey".to_owned(),
            Some(Secret::new(SHOP_KEY.to_owned())),
        )]),
        default_cancel_reason: None,
    };
    integrations::put(app, account, restaurant.id, "direct", change)
        .await
        .map_err(failed)?;
    Ok(restaurant.id)
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
    match receive(app, direct, request).await.map_err(failed)? {
        Reception::Taken { order_id } => Ok(order_id),
        other => Err(CommandError(format!("a sample order was not taken: {other:?}"))),
    }
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

fn introduce(address: &str, key: &Secret<String>, restaurant: RestaurantId, folder: &str) {
    let key = key.expose();
    print_line(&format!(
        "
The demo is running. Everything is sample data below {folder}.

  API page      http://{address}/docs/
  API key       {key}
  Restaurant    {restaurant}

Try it:

  curl -H 'Authorization: Bearer {key}' http://{address}/web-api/v1/orders
  curl -H 'Authorization: Bearer {key}' -X POST http://{address}/web-api/v1/orders/verify/WEB-5
  curl -H 'Authorization: Bearer {key}' http://{address}/web-api/v1/orders/grouped-payments

Order something, as the restaurant's web shop would:

  curl -H 'x-api-key: {SHOP_KEY}' -H 'Content-Type: application/json' http://{address}/hooks/direct/orders \\
    -d '{{\"storeId\":\"{STORE}\",\"providerOrderId\":\"WEB-100\",\"items\":[{{\"name\":\"Simit\",\"unitPrice\":1500}}],\"amount\":{{\"total\":1500}},\"payment\":{{\"type\":\"cash\"}}}}'

Ctrl-C ends it."
    ));
}
