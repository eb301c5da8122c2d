//! Order search, newest first.

use crate::flow::admin::restaurants;
use crate::flow::read::search;
use crate::flow::read::search::Question;
use crate::http::cursor::Cursor;
use crate::http::state::HttpState;
use crate::panel::components::day_range::DayRange;
use crate::panel::components::first_steps::FirstSteps;
use crate::panel::components::restaurant_header::chosen_restaurant;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::paging::Pager;
use crate::panel::kit::short_id::ShortId;
use crate::panel::kit::time_ago::TimeAgo;
use crate::panel::kit::{names, paging};
use crate::panel::words::OrdersWords;
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::routing::get;
use garson_core::id::RestaurantId;
use garson_core::order::Status;
use garson_core::platform::Provider;
use garson_store::lists::board::BoardOrder;
use std::sync::Arc;

const PATH: &str = "/orders";
const PAGE_SIZE: usize = 25;
const MAX_TEXT: usize = 100;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route(PATH, get(find_orders))
}

#[derive(Template)]
#[template(path = "orders.html")]
struct OrdersPage {
    layout: Layout,
    t: OrdersWords,
    text: Field,
    /// Folded on load unless one is set, so that a phone shows the results.
    filters: Vec<Field>,
    has_open_filters: bool,
    rows: Vec<Row>,
    pager: Pager,
    /// How far back the search got, if it stopped before the oldest order.
    searched_back_to: Option<String>,
    has_filters: bool,
    /// The text contains no letter and no digit.
    has_no_words: bool,
    is_empty: bool,
    first_steps: Option<FirstSteps>,
}

struct Row {
    id: String,
    code: ShortId,
    platform_id: Option<ShortId>,
    provider_key: String,
    provider: String,
    customer: String,
    restaurant: String,
    at: TimeAgo,
    status: &'static str,
    tone: &'static str,
    total: String,
}

impl Row {
    fn new(layout: &Layout, found: BoardOrder) -> Self {
        let order = found.order;
        Self {
            id: order.id.to_string(),
            provider_key: order.provider.to_string(),
            provider: layout.provider(&order.provider),
            customer: found.content.customer.name.unwrap_or_default(),
            restaurant: found.restaurant,
            at: layout.time_ago(&order.created_at),
            status: names::status(layout.lang, order.status),
            tone: names::status_tone(order.status),
            total: layout.money(&order.total, &order.currency),
            // Staff use the short code; the id is shown in addition.
            platform_id: order
                .short_code
                .is_some()
                .then(|| ShortId::new(&order.provider_order_id)),
            code: ShortId::new(order.short_code.unwrap_or(order.provider_order_id)),
        }
    }
}

/// The search of a query string.
struct OrderQuery {
    text: String,
    days: DayRange,
    status: Option<Status>,
    provider: Option<Provider>,
    restaurant: Option<RestaurantId>,
}

impl OrderQuery {
    /// A restaurant that is none is an error; an unknown status or platform means all.
    fn read(user: &CurrentUser, fields: &FormData) -> Result<Self, PanelError> {
        let named = |name: &str| Status::ALL.into_iter().find(|status| status.name() == name);
        Ok(Self {
            text: fields.get("q").chars().take(MAX_TEXT).collect(),
            days: DayRange::read(fields),
            status: named(fields.get("status")),
            provider: garson_platforms::find(fields.get("platform")).map(|it| it.provider()),
            restaurant: chosen_restaurant(user, fields)?,
        })
    }

    fn question(&self) -> Question {
        Question {
            text: self.text.clone(),
            status: self.status,
            provider: self.provider,
            restaurant: self.restaurant,
            period: self.days.period(),
        }
    }

    /// The URL of another page of the same search.
    fn url(&self, cursor: Option<i64>, dir: &str) -> String {
        let provider = self.provider.map(|it| it.to_string()).unwrap_or_default();
        let restaurant = self.restaurant.map(|it| it.to_string()).unwrap_or_default();
        let cursor = cursor.map(|it| Cursor(it).to_string()).unwrap_or_default();
        let fields = [
            ("q", self.text.as_str()),
            ("from", self.days.from.as_str()),
            ("to", self.days.to.as_str()),
            ("status", self.status.map(Status::name).unwrap_or_default()),
            ("platform", provider.as_str()),
            ("restaurant", restaurant.as_str()),
            ("cursor", cursor.as_str()),
            ("dir", dir),
        ];
        paging::url(PATH, &fields)
    }

    fn has_filters(&self) -> bool {
        self.url(None, "") != PATH
    }

    /// Whether anything but the text is set.
    fn has_open_filters(&self) -> bool {
        let is_chosen = self.status.is_some() || self.provider.is_some() || self.restaurant.is_some();
        is_chosen || !self.days.is_empty()
    }

    fn text_field(&self, t: &OrdersWords) -> Field {
        Field::new("q", t.text, FieldKind::Input("search"))
            .value(self.text.clone())
            .hint(t.text_hint)
            .length(0, MAX_TEXT)
    }

    fn filters(
        &self,
        layout: &Layout,
        t: &OrdersWords,
        restaurants: Vec<(RestaurantId, String)>,
    ) -> Vec<Field> {
        let any = |name: &str| Choice::new("", name, false);
        let statuses = Status::ALL.into_iter().map(|status| {
            let name = names::status(layout.lang, status);
            Choice::new(status.name(), name, self.status == Some(status))
        });
        let platforms = garson_platforms::all().iter().map(|platform| {
            let key = platform.provider();
            Choice::new(key.as_str(), layout.provider(&key), self.provider == Some(key))
        });
        let branches = restaurants
            .into_iter()
            .map(|(id, name)| Choice::new(id.to_string(), name, self.restaurant == Some(id)));
        let select = |name: &'static str, label, first, choices: Vec<Choice>| {
            let all = std::iter::once(any(first)).chain(choices).collect();
            Field::new(name, label, FieldKind::Select(all))
        };
        let [from, to] = self.days.fields(layout.lang, t.from, t.to);
        vec![
            from,
            to,
            select("status", t.status, t.any_status, statuses.collect()),
            select("platform", t.platform, t.any_platform, platforms.collect()),
            if layout.sees_all_restaurants() {
                select("restaurant", t.restaurant, t.any_restaurant, branches.collect())
            } else {
                Field::new("restaurant", t.restaurant, FieldKind::Select(branches.collect()))
            },
        ]
    }
}

async fn find_orders(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(raw_query): RawQuery,
) -> Result<Response, PanelError> {
    let params = FormData::parse(raw_query.unwrap_or_default().as_bytes());
    let (query, request) = (
        OrderQuery::read(&user, &params)?,
        paging::page_request(&params, PAGE_SIZE),
    );
    let (app, account) = (&api.app, user.account.id);
    let fail = |fault| user.fail(fault);
    let names = user.own_names(restaurants::names(app, account).await.map_err(fail)?);
    let (layout, t) = (user.layout(NavItem::Orders), OrdersWords::of(user.lang));
    let is_invalid = query.days.is_invalid();
    let found = if is_invalid {
        search::Answer::default()
    } else {
        search::orders(app, account, query.question(), request)
            .await
            .map_err(fail)?
    };
    let is_empty = !is_invalid && found.orders.is_empty() && found.older.is_none();
    let first_steps = if is_empty {
        FirstSteps::read(&api, &user).await?
    } else {
        None
    };
    Ok(page(&OrdersPage {
        has_filters: query.has_filters(),
        has_no_words: query.question().has_no_words(),
        searched_back_to: found.examined_to.map(|at| layout.timestamp(&at)),
        pager: Pager {
            newer: found.newer.map(|position| query.url(Some(position), "prev")),
            older: found.older.map(|position| query.url(Some(position), "")),
        },
        rows: found.orders.into_iter().map(|it| Row::new(&layout, it)).collect(),
        text: query.text_field(&t),
        filters: query.filters(&layout, &t, names),
        has_open_filters: query.has_open_filters(),
        layout,
        t,
        is_empty,
        first_steps,
    }))
}
