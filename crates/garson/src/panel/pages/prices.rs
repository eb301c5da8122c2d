//! Price changes: a preview of exactly what would be sent, its confirmation, and the result of each price.

use crate::flow::Fault;
use crate::flow::admin::input::price_push_id;
use crate::flow::admin::integrations::platform;
use crate::flow::admin::restaurants;
use crate::flow::fault::Thing;
use crate::flow::products::prices as flow;
use crate::flow::products::prices::{DesiredPrice, PriceChangeView};
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, products_layout, restaurant_id};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::live_parts::{Parts, follow_parts, markup};
use crate::panel::kit::paging::url;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::PriceWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use garson_core::id::{PricePushId, ProductId, RestaurantId};
use garson_core::money::{Currency, Minor};
use garson_core::platform::Provider;
use garson_core::price_change::PriceScope;
use garson_core::restaurant::Restaurant;
use garson_core::store_control::Requester;
use garson_core::time::Timestamp;
use garson_store::tables::prices::{PriceItem, PriceState, PushState};
use std::sync::Arc;

/// Prices on a page.
const ROWS: usize = 100;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/restaurants/{id}/prices", post(preview_prices))
        .route(
            "/restaurants/{id}/prices/{change}",
            get(show_change).post(send_prices),
        )
        .route("/restaurants/{id}/prices/{change}/stream", get(follow_change))
}

#[derive(Template)]
#[template(path = "price_change.html")]
struct PriceChangePage {
    layout: Layout,
    t: PriceWords,
    header: RestaurantHeader,
    id: String,
    rows: PriceRows,
    stage: Stage,
    needs_chain: bool,
    /// The page of the product.
    back: String,
    /// The address of the live rows, while prices are being sent.
    stream: String,
}

/// Some of the prices, which the live stream replaces.
#[derive(Template)]
#[template(path = "price_rows.html")]
struct PriceRows {
    t: PriceWords,
    /// The restaurant's.
    name: String,
    rows: Vec<PriceRow>,
    stage: Stage,
    back: String,
    here: String,
    /// Which of how many are shown, where it is not all.
    range: Option<String>,
    before: Option<String>,
    after: Option<String>,
    /// The label of the links to other pages.
    pages: &'static str,
}

/// The progress of a price change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It can be sent.
    Preview,
    /// There is nothing to send.
    Nothing,
    Expired,
    Running,
    Done,
}

struct PriceRow {
    key: String,
    provider: String,
    branch: String,
    is_chain: bool,
    name: String,
    old: String,
    new: String,
    tone: &'static str,
    result: &'static str,
    message: String,
}

/// A price as users write it: `225`, `225,50`, `1.225,50`, `225.50`.
fn read_price(text: &str) -> Option<Minor> {
    const MAX: i64 = 100_000_000;
    let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != '₺').collect();
    let (whole, decimals) = match (text.rsplit_once(','), text.rsplit_once('.')) {
        (Some((_, after)), _) if after.len() > 2 => return None,
        (Some((whole, after)), _) => (whole.replace('.', ""), after.to_owned()),
        // A point before three digits is a thousands separator.
        (None, Some((whole, after))) if after.len() == 3 => {
            (format!("{}{after}", whole.replace('.', "")), String::new())
        }
        (None, Some((whole, after))) => (whole.to_owned(), after.to_owned()),
        (None, None) => (text, String::new()),
    };
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty()
        || whole.len() > 9
        || decimals.len() > 2
        || !is_number(&whole)
        || !is_number(&decimals)
    {
        return None;
    }
    let cents: i64 = format!("{decimals:0<2}").parse().ok()?;
    let minor = whole.parse::<i64>().ok()?.checked_mul(100)?.checked_add(cents)?;
    (minor <= MAX).then_some(Minor(minor))
}

fn chosen(fields: &FormData) -> Result<Vec<Provider>, Fault> {
    fields
        .with_prefix("on.")
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, _)| platform(key).map(|it| it.provider()))
        .collect()
}

fn path(restaurant: RestaurantId, change: PricePushId) -> String {
    format!("/restaurants/{restaurant}/prices/{change}")
}

/// Stores a preview. Nothing is sent.
async fn preview_prices(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let t = PriceWords::of(user.lang);
    let product: ProductId = fields
        .get("product")
        .parse()
        .map_err(|_| user.fail(Fault::not_found(Thing::Product, fields.get("product"))))?;
    let back = format!("{}/{product}", Tab::Products.path(id));
    let Some(price) = read_price(fields.get("price")) else {
        return Ok(user.redirect_with_error(&back, t.price_wrong));
    };
    let providers = chosen(&fields).map_err(|fault| user.fail(fault))?;
    if providers.is_empty() {
        return Ok(user.redirect_with_error(&back, t.none_chosen));
    }
    let desired = DesiredPrice {
        product,
        price,
        providers,
    };
    let named = (PricePushId::at(api.app.now()), "account");
    let made = flow::preview(&api.app, user.account.id, id, named, vec![desired])
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(Redirect::to(&path(id, made.push.id)).into_response())
}

async fn show_change(
    State(api): State<Arc<HttpState>>,
    Path((id, change)): Path<(String, String)>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let place = Place::read(&user, &id, &change, query.as_deref())?;
    let (restaurant, found) = find(&api, &user, place).await?;
    let (layout, t) = (products_layout(&user, &restaurant), PriceWords::of(user.lang));
    let rows = PriceRows::new(&user, (&restaurant, &found), place, api.app.now());
    let is_running = rows.stage == Stage::Running;
    Ok(page(&PriceChangePage {
        stage: rows.stage,
        back: rows.back.clone(),
        rows,
        needs_chain: found.items.iter().any(is_open_chain),
        id: place.change.to_string(),
        stream: if is_running {
            place.path("/stream", place.first)
        } else {
            String::new()
        },
        header: RestaurantHeader::new(&user, &restaurant, Tab::Products),
        layout,
        t,
    }))
}

/// The rows while prices are being sent.
async fn follow_change(
    State(api): State<Arc<HttpState>>,
    Path((id, change)): Path<(String, String)>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let place = Place::read(&user, &id, &change, query.as_deref())?;
    find(&api, &user, place).await?;
    let (shared, viewer) = (Arc::clone(&api), user.clone());
    let render = move || {
        let (api, user) = (Arc::clone(&shared), viewer.clone());
        async move {
            let (restaurant, found) = find(&api, &user, place).await?;
            let rows = PriceRows::new(&user, (&restaurant, &found), place, api.app.now());
            Ok(Parts {
                is_pending: rows.stage == Stage::Running,
                markup: markup(&rows),
            })
        }
    };
    follow_parts(&api, &user, render).await
}

/// A page of a change's prices.
#[derive(Clone, Copy)]
struct Place {
    restaurant: RestaurantId,
    change: PricePushId,
    /// The number of the first row.
    first: usize,
}

impl Place {
    fn read(user: &CurrentUser, id: &str, change: &str, query: Option<&str>) -> Result<Self, PanelError> {
        let params = FormData::parse(query.unwrap_or_default().as_bytes());
        Ok(Self {
            restaurant: restaurant_id(user, id)?,
            change: price_push_id(change).map_err(|fault| user.fail(fault))?,
            first: params.get("from").parse().unwrap_or(0),
        })
    }

    fn path(self, suffix: &str, first: usize) -> String {
        let first = Some(first).filter(|first| *first > 0);
        let first = first.map_or_else(String::new, |first| first.to_string());
        let here = path(self.restaurant, self.change);
        url(&format!("{here}{suffix}"), &[("from", &first)])
    }
}

async fn find(
    api: &HttpState,
    user: &CurrentUser,
    place: Place,
) -> Result<(Restaurant, PriceChangeView), PanelError> {
    let fail = |fault| user.fail(fault);
    let (account, id) = (user.account.id, place.restaurant);
    let restaurant = restaurants::get(&api.app, account, id).await.map_err(fail)?;
    let found = flow::get(&api.app, account, id, place.change)
        .await
        .map_err(fail)?;
    Ok((restaurant, found))
}

impl PriceRows {
    fn new(
        user: &CurrentUser,
        (restaurant, found): (&Restaurant, &PriceChangeView),
        place: Place,
        now: Timestamp,
    ) -> Self {
        let (layout, t) = (products_layout(user, restaurant), PriceWords::of(user.lang));
        let total = found.items.len();
        // A link to rows that are not there shows the first ones.
        let first = Some(place.first).filter(|first| *first < total).unwrap_or(0);
        let shown = found.items.iter().skip(first).take(ROWS);
        let rows: Vec<PriceRow> = shown
            .map(|item| PriceRow::new(&layout, &t, restaurant, item))
            .collect();
        let last = first + rows.len();
        let product = found.items.first().map(|it| format!("/{}", it.product_id));
        Self {
            range: (total > rows.len()).then(|| format!("{}–{last} / {total}", first + 1)),
            rows,
            stage: stage(found, now),
            back: format!(
                "{}{}",
                Tab::Products.path(restaurant.id),
                product.unwrap_or_default()
            ),
            here: place.path("", first),
            name: restaurant.fields.name.clone(),
            before: (first > 0).then(|| place.path("", first.saturating_sub(ROWS))),
            after: (last < total).then(|| place.path("", last)),
            pages: layout.c.pages,
            t,
        }
    }
}

fn is_open_chain(item: &PriceItem) -> bool {
    item.state == PriceState::Preview && item.scope == PriceScope::Chain
}

fn stage(view: &PriceChangeView, now: Timestamp) -> Stage {
    match view.push.state {
        PushState::Done => Stage::Done,
        PushState::Preview if !view.items.iter().any(|it| it.state == PriceState::Preview) => Stage::Nothing,
        PushState::Preview if view.push.expires_at <= now => Stage::Expired,
        PushState::Preview => Stage::Preview,
        _ => Stage::Running,
    }
}

impl PriceRow {
    fn new(layout: &Layout, t: &PriceWords, restaurant: &Restaurant, item: &PriceItem) -> Self {
        let provider = item.key.provider;
        let integration = restaurant.integrations.iter().find(|it| it.provider == provider);
        let branch = integration
            .and_then(|it| it.remote_id.clone())
            .unwrap_or_default();
        let money = |price: Minor| layout.money(&price, &Currency::TRY);
        let (tone, result) = match item.state {
            PriceState::Preview => ("main", t.will_be_sent),
            PriceState::Pending => ("warn", t.pending),
            PriceState::Queued => ("warn", t.queued),
            PriceState::Done => ("good", t.done),
            PriceState::Failed => ("bad", t.failed),
            PriceState::Unsupported => ("", t.unsupported),
        };
        Self {
            key: provider.to_string(),
            provider: layout.provider(&provider),
            branch,
            is_chain: item.scope == PriceScope::Chain,
            name: item.name.clone(),
            old: item.old_price.map_or_else(|| t.unknown.to_owned(), money),
            new: money(item.new_price),
            tone,
            result,
            message: item
                .message
                .as_ref()
                .map_or_else(String::new, |message| explain::text(layout.lang, message)),
        }
    }
}

/// Sends exactly the preview that was shown.
async fn send_prices(
    State(api): State<Arc<HttpState>>,
    Path((id, change)): Path<(String, String)>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let change = price_push_id(&change).map_err(|fault| user.fail(fault))?;
    let t = PriceWords::of(user.lang);
    let here = path(id, change);
    let confirms = fields.is_checked("confirmChain");
    match flow::push(&api.app, user.by(), id, change, confirms, Requester::Panel).await {
        Ok(view) if view.push.state == PushState::Done => Ok(user.redirect_with_notice(&here, t.sent)),
        Ok(_) => Ok(Redirect::to(&here).into_response()),
        Err(Fault::Invalid { field, .. }) if field == "confirmChain" => {
            Ok(user.redirect_with_error(&here, t.chain_missing))
        }
        Err(Fault::Invalid { .. }) => Ok(user.redirect_with_error(&here, t.expired_text)),
        Err(fault) => Err(user.fail(fault)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_as_people_write_them() {
        for (text, minor) in [
            ("225", 22_500),
            (" 225,5 ₺", 22_550),
            ("225.50", 22_550),
            ("1.225", 122_500),
            ("1.225,50", 122_550),
            ("0", 0),
            ("1000000", 100_000_000),
        ] {
            assert_eq!(read_price(text), Some(Minor(minor)), "{text}");
        }
        for wrong in ["", ",", "-5", "abc", "1,234", "1000001", "2,5.0", "99999999999"] {
            assert_eq!(read_price(wrong), None, "{wrong}");
        }
    }
}
