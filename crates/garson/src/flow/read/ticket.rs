//! The ticket of an order.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::find_order::find_one;
use crate::flow::platform_names::platform_name;
use garson_core::channel::Language;
use garson_core::id::AccountId;
use garson_core::restaurant::Config;
use garson_store::tables::{orders, restaurants};
use garson_ticket::{Lang, Options, Source, Ticket, build};

/// The ticket of an order, by our id or the platform's.
pub async fn ticket(
    app: &App,
    account: AccountId,
    path_id: String,
    options: Options,
) -> Result<Ticket, Fault> {
    let now = app.now();
    let vault = app.vault.clone();
    app.store
        .read(move |tx| {
            let order = find_one(tx, account, &path_id)?;
            let content = orders::content(tx, order.id)?;
            let restaurant = restaurants::find(tx, &vault, account, order.restaurant_id)?;
            let fields = restaurant.map(|restaurant| restaurant.fields).unwrap_or_default();
            let zone = Config::read(fields.config.as_deref()).unwrap_or_default().zone();
            let language = match options.lang {
                Lang::Tr => Language::Tr,
                Lang::En => Language::En,
            };
            let platform = platform_name(order.provider.as_str(), language);
            let platform = match &content.storefront {
                Some(storefront) => &format!("{platform} · {storefront}"),
                None => platform,
            };
            let source = Source {
                order: &order,
                content: &content,
                restaurant: &fields.name,
                restaurant_address: fields.address.as_deref(),
                platform,
                zone: &zone,
                now,
            };
            Ok(build(&source, options))
        })
        .await
}
