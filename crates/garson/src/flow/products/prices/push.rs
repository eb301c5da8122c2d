//! Sends exactly a previewed set of prices, and shows the results.

use super::view::{PriceChangeView, is_expired};
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::products::record;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, PricePushId, RestaurantId};
use garson_core::price_change::PriceScope;
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_control::Requester;
use garson_core::store_status::StoreActor;
use garson_store::tables::prices::{PriceItem, PriceState, PushState};
use garson_store::tables::{prices, restaurants};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// How long a client waits for the platforms.
const WAIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(250);

/// A change of prices, previewed or sent.
pub async fn get(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    id: PricePushId,
) -> Result<PriceChangeView, Fault> {
    app.store
        .read(move |tx| {
            let push = prices::find(tx, account, restaurant, id)?;
            let push = push.ok_or_else(|| Fault::not_found(Thing::PriceChange, id))?;
            Ok(PriceChangeView {
                items: prices::items(tx, id)?,
                push,
            })
        })
        .await
}

/// Sends the prices of a preview, and waits until every platform has answered or the time is up. A preview is sent only once.
pub async fn push(
    app: &App,
    by: By,
    restaurant: RestaurantId,
    id: PricePushId,
    confirms_chain: bool,
    requester: Requester,
) -> Result<PriceChangeView, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            if !restaurants::lock(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            let push = prices::find(tx, account, restaurant, id)?;
            let push = push.ok_or_else(|| Fault::not_found(Thing::PriceChange, id))?;
            if push.state != PushState::Preview {
                return Ok(());
            }
            if is_expired(&push, now) {
                let problem = FieldProblem::text("has expired; make a new preview");
                return Err(Fault::invalid("previewId", problem));
            }
            let items = prices::items(tx, id)?;
            let is_chain = |it: &PriceItem| it.state == PriceState::Preview && it.scope == PriceScope::Chain;
            if !confirms_chain && items.iter().any(is_chain) {
                let problem =
                    FieldProblem::text("must be true: some of the prices concern every branch of the chain");
                return Err(Fault::invalid("confirmChain", problem));
            }
            prices::start(tx, id, now)?;
            let detail = json!({ "prices": items.iter().filter(|it| !it.state.is_settled()).count() });
            by.record(tx, recorded(restaurant, id, &items), now);
            let whose = (StoreActor::Account, requester);
            let entry = HistoryEntry::new(restaurant, now, whose, HistoryAction::PricesRequested, detail);
            record::history(tx, account, entry)?;
            prices::finish_if_settled(tx, id, now)?;
            Ok::<_, Fault>(())
        })
        .await?;
    app.product_work.prices.notify_one();
    wait(app, account, restaurant, id).await
}

/// The prices that are sent, up to a number that an entry can hold.
fn recorded(restaurant: RestaurantId, id: PricePushId, items: &[PriceItem]) -> Recorded {
    const MAX: usize = 100;
    let prices = |price: fn(&PriceItem) -> Value| -> Value {
        let items = items.iter().filter(|it| !it.state.is_settled()).take(MAX);
        items
            .map(|it| (format!("{} {}", it.key.provider, it.key.id), price(it)))
            .collect::<Map<_, _>>()
            .into()
    };
    Recorded::new(RecordKind::Price, Verb::Sent)
        .id(id)
        .restaurant(restaurant)
        .before(prices(|it| json!(it.old_price)))
        .after(prices(|it| json!(it.new_price)))
}

async fn wait(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    id: PricePushId,
) -> Result<PriceChangeView, Fault> {
    let until = Instant::now() + WAIT;
    loop {
        let view = get(app, account, restaurant, id).await?;
        if view.push.state == PushState::Done || Instant::now() >= until {
            return Ok(view);
        }
        // After either a result or the pause, the database is read again.
        let _ = tokio::time::timeout(PAUSE, app.product_work.settled.notified()).await;
    }
}
