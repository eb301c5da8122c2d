//! Reports: the orders that accounting still has to take, the mark that it has, and tables to take along.

use crate::flow::Fault;
use crate::flow::admin::restaurants;
use crate::flow::read::reports;
use crate::http::state::HttpState as Api;
use crate::panel::kit::day_range::DayRange;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::first_steps::Start;
use crate::panel::kit::form::{Choice, Field, Kind, Pager};
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::lang::{Lang, safe_path};
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::kit::{csv, format, names, paging};
use crate::panel::words::ReportWords;
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::time::Zone;
use garson_store::lists::feed::{Direction, Page, PageRequest};
use garson_store::lists::orders::OrderSummary;
use std::collections::HashMap;
use std::sync::Arc;

/// Orders on a page, and in a chunk of a table.
const ON_A_PAGE: usize = 50;
const IN_A_CHUNK: usize = 500;

pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/reports", get(show_reports))
        .route("/reports/mark", post(mark_orders))
        .route("/reports/pending.csv", get(export_pending))
        .route("/reports/orders.csv", get(export_period))
}

/// Which orders are wanted: those of a restaurant, those of some days.
#[derive(Clone, Default)]
pub struct Choosing {
    pub restaurant: Option<RestaurantId>,
    pub days: DayRange,
}

impl Choosing {
    /// What an address asks for.
    pub fn read(asked: &Fields) -> Self {
        Self {
            restaurant: asked.get("restaurant").parse().ok(),
            days: DayRange::read(asked),
        }
    }

    /// The address of something with the same choice.
    fn address(&self, path: &str) -> String {
        let id = self.restaurant_text();
        paging::address(path, &self.filters(&id))
    }

    fn filters<'a>(&'a self, restaurant: &'a str) -> [(&'a str, &'a str); 3] {
        [
            ("restaurant", restaurant),
            ("from", self.days.from.as_str()),
            ("to", self.days.to.as_str()),
        ]
    }

    fn restaurant_text(&self) -> String {
        self.restaurant.map_or_else(String::new, |id| id.to_string())
    }
}

/// The names of an account's restaurants.
pub type Names = HashMap<RestaurantId, String>;

/// Restaurants to choose from, and their names.
pub async fn to_choose_from(
    api: &Api,
    visitor: &Visitor,
    chosen: Option<RestaurantId>,
) -> Result<(Vec<Choice>, Names), PanelError> {
    let names = restaurants::names(&api.app, visitor.account.id)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let all = ReportWords::of(visitor.lang).all_restaurants;
    let mut choices = vec![Choice::new("", all, chosen.is_none())];
    choices.extend(
        names
            .iter()
            .map(|(id, name)| Choice::new(id.to_string(), name, chosen == Some(*id))),
    );
    Ok((choices, names.into_iter().collect()))
}

/// An order as the list and the tables show it.
struct Line {
    id: OrderId,
    at: String,
    restaurant: String,
    platform: String,
    order: String,
    code: String,
    status: &'static str,
    payment: &'static str,
    total: String,
}

impl Line {
    fn new(lang: Lang, known: &Names, order: OrderSummary) -> Self {
        Self {
            id: order.id,
            at: format::moment(lang, &Zone::istanbul(), order.created_at),
            restaurant: known.get(&order.restaurant_id).cloned().unwrap_or_default(),
            platform: format::provider(lang, order.provider),
            order: order.provider_order_id,
            code: order.short_code.unwrap_or_default(),
            status: names::status(lang, order.status),
            payment: names::payment(lang, order.payment_type),
            total: format::money(lang, order.total, order.currency),
        }
    }
}

#[derive(Template)]
#[template(path = "reports.html")]
struct ReportsPage {
    frame: Frame,
    t: ReportWords,
    restaurant: Field,
    from: Field,
    to: Field,
    /// The days cannot be meant, so nothing is listed.
    is_wrong: bool,
    lines: Vec<Line>,
    start: Option<Start>,
    pager: Pager,
    pending_csv: String,
    period_csv: String,
}

async fn show_reports(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let (account, lang) = (visitor.account.id, visitor.lang);
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    let choosing = Choosing::read(&asked);
    let request = paging::wanted(&asked, ON_A_PAGE);
    let (only, period) = (choosing.restaurant, choosing.days.period());
    let is_wrong = choosing.days.is_wrong();
    let found = match is_wrong {
        true => Page::empty(request),
        false => reports::list_pending(&api.app, account, only, Vec::new(), period, request, |_, page| {
            Ok(page)
        })
        .await
        .map_err(|fault| visitor.fail(fault))?,
    };
    let (choices, names) = to_choose_from(&api, &visitor, choosing.restaurant).await?;
    let start = match found.items.is_empty() && !is_wrong {
        true => Start::read(&api, &visitor).await?,
        false => None,
    };
    let id = choosing.restaurant_text();
    let t = ReportWords::of(lang);
    let [from, to] = choosing.days.fields(lang, t.from, t.to);
    Ok(page(&ReportsPage {
        frame: Frame::new(&visitor, Place::Reports),
        restaurant: Field::new("restaurant", t.restaurant, Kind::Select(choices)),
        from,
        to,
        is_wrong,
        start,
        pager: paging::ways("/reports", &choosing.filters(&id), request, &found),
        lines: found
            .items
            .into_iter()
            .map(|order| Line::new(lang, &names, order))
            .collect(),
        pending_csv: choosing.address("/reports/pending.csv"),
        period_csv: choosing.address("/reports/orders.csv"),
        t,
    }))
}

/// Marks the order whose button was pressed, or all that the page showed.
async fn mark_orders(
    State(api): State<Arc<Api>>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let t = ReportWords::of(visitor.lang);
    let name = if fields.get("one").is_empty() {
        "order"
    } else {
        "one"
    };
    let ids = fields.all(name).take(ON_A_PAGE).map(|id| {
        id.parse()
            .map_err(|_| visitor.fail(Fault::not_found("order", id)))
    });
    let ids: Vec<OrderId> = ids.collect::<Result<_, _>>()?;
    let marked = reports::mark_each(&api.app, visitor.account.id, ids)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let back = match fields.get("back") {
        "" => "/reports",
        back => safe_path(back),
    };
    Ok(match marked {
        0 => visitor.refused(back, t.none_marked),
        marked => visitor.done(back, format!("{} {marked}", t.marked)),
    })
}

/// A table on its way.
struct Export {
    api: Arc<Api>,
    account: AccountId,
    lang: Lang,
    choosing: Choosing,
    names: Arc<Names>,
    is_pending: bool,
    cursor: Option<i64>,
}

impl Export {
    async fn read(&self) -> Result<Page<OrderSummary>, Fault> {
        let (app, account) = (&self.api.app, self.account);
        let (restaurant, period) = (self.choosing.restaurant, self.choosing.days.period());
        let request = PageRequest {
            limit: IN_A_CHUNK,
            cursor: self.cursor,
            direction: Direction::Older,
        };
        match self.is_pending {
            true => {
                let all = Vec::new();
                reports::list_pending(app, account, restaurant, all, period, request, |_, page| Ok(page))
                    .await
            }
            false => reports::list_period(app, account, restaurant, period, request).await,
        }
    }

    fn line(&self, order: OrderSummary) -> String {
        let t = ReportWords::of(self.lang);
        let (amount, currency) = (csv::amount(order.total), order.currency);
        let reported = if order.is_report { t.yes } else { t.no };
        let line = Line::new(self.lang, &self.names, order);
        csv::line(&[
            csv::text(&line.at),
            csv::text(&line.restaurant),
            csv::text(&line.platform),
            csv::text(&line.order),
            csv::text(&line.code),
            csv::text(line.status),
            csv::text(line.payment),
            amount,
            csv::text(currency.as_str()),
            csv::text(reported),
        ])
    }
}

impl csv::Lines for Export {
    async fn more(mut self) -> Result<(String, Option<Self>), Fault> {
        let found = self.read().await?;
        let chunk = found.items.into_iter().map(|order| self.line(order)).collect();
        self.cursor = found.next;
        let has_more = self.cursor.is_some();
        Ok((chunk, has_more.then_some(self)))
    }
}

async fn export(
    api: Arc<Api>,
    visitor: Visitor,
    query: Option<String>,
    is_pending: bool,
) -> Result<Response, PanelError> {
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    let choosing = Choosing::read(&asked);
    if choosing.days.is_wrong() {
        // A table of other days than those that were meant would be believed; the page says what is wrong.
        return Ok(Redirect::to(&choosing.address("/reports")).into_response());
    }
    let (_, names) = to_choose_from(&api, &visitor, None).await?;
    let t = ReportWords::of(visitor.lang);
    let heading = csv::heading(&[
        t.at,
        t.restaurant,
        t.platform,
        t.order,
        t.code,
        t.status,
        t.payment,
        t.total,
        t.currency,
        t.reported,
    ]);
    let file = if is_pending { t.file_pending } else { t.file_period };
    let today = Zone::istanbul().write(api.app.now(), "%Y-%m-%d");
    let export = Export {
        account: visitor.account.id,
        lang: visitor.lang,
        names: Arc::new(names),
        cursor: None,
        api,
        choosing,
        is_pending,
    };
    csv::answer(&format!("{file}-{today}"), heading, export)
        .await
        .map_err(|fault| visitor.fail(fault))
}

async fn export_pending(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    export(api, visitor, query, true).await
}

async fn export_period(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    export(api, visitor, query, false).await
}
