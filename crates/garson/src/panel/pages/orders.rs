//! Search over orders: by what people know of one, newest first, page by page.

use super::order::{self, tone};
use crate::flow::admin::restaurants;
use crate::flow::read::search;
use crate::flow::read::search::Question;
use crate::http::cursor::Cursor;
use crate::http::state::HttpState as Api;
use crate::panel::kit::day_range::DayRange;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::first_steps::Start;
use crate::panel::kit::form::{Choice, Field, Kind, Pager};
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::visitor::Visitor;
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
const ON_A_PAGE: usize = 25;
const LONGEST_TEXT: usize = 100;

pub fn routes() -> Router<Arc<Api>> {
    Router::new().route(PATH, get(find_orders)).merge(order::routes())
}

#[derive(Template)]
#[template(path = "orders.html")]
struct OrdersPage {
    frame: Frame,
    t: OrdersWords,
    text: Field,
    /// They are folded, so that a phone shows what was found, unless one of them is set.
    filters: Vec<Field>,
    is_narrowed: bool,
    rows: Vec<Row>,
    pager: Pager,
    /// Up to where was looked, when not everything could be looked through.
    looked_to: Option<String>,
    has_filters: bool,
    /// There is no letter and no digit in what was typed.
    has_no_words: bool,
    /// There is nothing else that could be looked at.
    is_empty: bool,
    start: Option<Start>,
}

struct Row {
    id: String,
    code: String,
    platform_id: String,
    key: String,
    provider: String,
    customer: String,
    restaurant: String,
    at: String,
    status: &'static str,
    tone: &'static str,
    total: String,
}

impl Row {
    fn new(frame: &Frame, found: BoardOrder) -> Self {
        let order = found.order;
        Self {
            id: order.id.to_string(),
            key: order.provider.to_string(),
            provider: frame.provider(&order.provider),
            customer: found.content.customer.name.unwrap_or_default(),
            restaurant: found.restaurant,
            at: frame.moment(&order.created_at),
            status: names::status(frame.lang, order.status),
            tone: tone(order.status),
            total: frame.money(&order.total, &order.currency),
            // The code is what people say; the id is shown beside it only if there is one.
            platform_id: match &order.short_code {
                Some(_) => order.provider_order_id.clone(),
                None => String::new(),
            },
            code: order.short_code.unwrap_or(order.provider_order_id),
        }
    }
}

/// What an address asks for.
struct Asked {
    text: String,
    days: DayRange,
    status: Option<Status>,
    provider: Option<Provider>,
    restaurant: Option<RestaurantId>,
}

impl Asked {
    fn read(fields: &Fields) -> Self {
        let named = |name: &str| Status::ALL.into_iter().find(|status| status.name() == name);
        Self {
            text: fields.get("q").chars().take(LONGEST_TEXT).collect(),
            days: DayRange::read(fields),
            status: named(fields.get("status")),
            provider: garson_platforms::find(fields.get("platform")).map(|it| it.provider()),
            restaurant: fields.get("restaurant").parse().ok(),
        }
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

    /// The address of the same question at another page.
    fn address(&self, cursor: Option<i64>, dir: &str) -> String {
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
        paging::address(PATH, &fields)
    }

    fn has_filters(&self) -> bool {
        self.address(None, "") != PATH
    }

    /// Is anything asked for beside the text?
    fn is_narrowed(&self) -> bool {
        let is_chosen = self.status.is_some() || self.provider.is_some() || self.restaurant.is_some();
        is_chosen || !self.days.is_empty()
    }

    fn text_field(&self, t: &OrdersWords) -> Field {
        Field::new("q", t.text, Kind::Input("search"))
            .value(self.text.clone())
            .hint(t.text_hint)
            .between(0, LONGEST_TEXT)
    }

    fn filters(
        &self,
        frame: &Frame,
        t: &OrdersWords,
        restaurants: Vec<(RestaurantId, String)>,
    ) -> Vec<Field> {
        let any = |name: &str| Choice::new("", name, false);
        let statuses = Status::ALL.into_iter().map(|status| {
            let name = names::status(frame.lang, status);
            Choice::new(status.name(), name, self.status == Some(status))
        });
        let platforms = garson_platforms::all().iter().map(|platform| {
            let key = platform.provider();
            Choice::new(key.as_str(), frame.provider(&key), self.provider == Some(key))
        });
        let places = restaurants
            .into_iter()
            .map(|(id, name)| Choice::new(id.to_string(), name, self.restaurant == Some(id)));
        let select = |name: &'static str, label, first, choices: Vec<Choice>| {
            let all = std::iter::once(any(first)).chain(choices).collect();
            Field::new(name, label, Kind::Select(all))
        };
        let [from, to] = self.days.fields(frame.lang, t.from, t.to);
        vec![
            from,
            to,
            select("status", t.status, t.any_status, statuses.collect()),
            select("platform", t.platform, t.any_platform, platforms.collect()),
            select("restaurant", t.restaurant, t.any_restaurant, places.collect()),
        ]
    }
}

async fn find_orders(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let given = Fields::parse(query.unwrap_or_default().as_bytes());
    let (asked, request) = (Asked::read(&given), paging::wanted(&given, ON_A_PAGE));
    let (app, account) = (&api.app, visitor.account.id);
    let fail = |fault| visitor.fail(fault);
    let names = restaurants::names(app, account).await.map_err(fail)?;
    let (frame, t) = (Frame::new(&visitor, Place::Orders), OrdersWords::of(visitor.lang));
    let is_wrong = asked.days.is_wrong();
    let found = match is_wrong {
        // The field says so, and nothing is looked for.
        true => search::Answer::default(),
        false => search::orders(app, account, asked.question(), request)
            .await
            .map_err(fail)?,
    };
    let is_empty = !is_wrong && found.orders.is_empty() && found.older.is_none();
    let start = match is_empty {
        true => Start::read(&api, &visitor).await?,
        false => None,
    };
    Ok(page(&OrdersPage {
        has_filters: asked.has_filters(),
        has_no_words: asked.question().has_no_words(),
        looked_to: found.examined_to.map(|at| frame.moment(&at)),
        pager: Pager {
            newer: found.newer.map(|place| asked.address(Some(place), "prev")),
            older: found.older.map(|place| asked.address(Some(place), "")),
        },
        rows: found.orders.into_iter().map(|it| Row::new(&frame, it)).collect(),
        text: asked.text_field(&t),
        filters: asked.filters(&frame, &t, names),
        is_narrowed: asked.is_narrowed(),
        frame,
        t,
        is_empty,
        start,
    }))
}
