//! Reports: orders that are not yet transferred to accounting, marking them, and CSV exports.

use crate::flow::Fault;
use crate::flow::fault::Thing;
use crate::flow::read::reports;
use crate::http::state::HttpState;
use crate::panel::components::first_steps::FirstSteps;
use crate::panel::components::report_filter::{ReportFilter, RestaurantNames, restaurant_choices};
use crate::panel::kit::current_user::{CurrentUser, UserForm};
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::paging::Pager;
use crate::panel::kit::redirect::safe_path;
use crate::panel::kit::{csv, format, names, paging};
use crate::panel::words::Lang;
use crate::panel::words::ReportWords;
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use garson_core::id::{AccountId, OrderId};
use garson_core::time::Zone;
use garson_store::lists::feed::{Direction, Page, PageRequest};
use garson_store::lists::orders::OrderSummary;
use std::sync::Arc;

const PAGE_SIZE: usize = 50;
/// Orders in a chunk of an export.
const CHUNK_SIZE: usize = 500;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/reports", get(show_reports))
        .route("/reports/mark", post(mark_orders))
        .route("/reports/pending.csv", get(export_pending))
        .route("/reports/orders.csv", get(export_period))
}

/// An order in the list and the exports.
struct OrderRow {
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

impl OrderRow {
    fn new(lang: Lang, names: &RestaurantNames, order: OrderSummary) -> Self {
        Self {
            id: order.id,
            at: format::timestamp(lang, &Zone::istanbul(), order.created_at),
            restaurant: names.get(&order.restaurant_id).cloned().unwrap_or_default(),
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
    layout: Layout,
    t: ReportWords,
    restaurant: Field,
    from: Field,
    to: Field,
    /// The days are invalid, so nothing is listed.
    is_invalid: bool,
    rows: Vec<OrderRow>,
    first_steps: Option<FirstSteps>,
    pager: Pager,
    pending_csv: String,
    period_csv: String,
}

async fn show_reports(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let (account, lang) = (user.account.id, user.lang);
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let filter = ReportFilter::read(&params);
    let request = paging::page_request(&params, PAGE_SIZE);
    let (only, period) = (filter.restaurant, filter.days.period());
    let is_invalid = filter.days.is_invalid();
    let found = if is_invalid {
        Page::empty(request)
    } else {
        reports::list_pending(&api.app, account, only, Vec::new(), period, request, |_, page| {
            Ok(page)
        })
        .await
        .map_err(|fault| user.fail(fault))?
    };
    let (choices, names) = restaurant_choices(&api, &user, filter.restaurant).await?;
    let first_steps = if found.items.is_empty() && !is_invalid {
        FirstSteps::read(&api, &user).await?
    } else {
        None
    };
    let id = filter.restaurant_text();
    let t = ReportWords::of(lang);
    let [from, to] = filter.days.fields(lang, t.from, t.to);
    Ok(page(&ReportsPage {
        layout: user.layout(NavItem::Reports),
        restaurant: Field::new("restaurant", t.restaurant, FieldKind::Select(choices)),
        from,
        to,
        is_invalid,
        first_steps,
        pager: paging::pager("/reports", &filter.params(&id), request, &found),
        rows: found
            .items
            .into_iter()
            .map(|order| OrderRow::new(lang, &names, order))
            .collect(),
        pending_csv: filter.url("/reports/pending.csv"),
        period_csv: filter.url("/reports/orders.csv"),
        t,
    }))
}

/// Marks the order of the pressed button, or all orders on the page.
async fn mark_orders(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let t = ReportWords::of(user.lang);
    let name = if fields.get("one").is_empty() {
        "order"
    } else {
        "one"
    };
    let ids = fields.all(name).take(PAGE_SIZE).map(|id| {
        id.parse()
            .map_err(|_| user.fail(Fault::not_found(Thing::Order, id)))
    });
    let ids: Vec<OrderId> = ids.collect::<Result<_, _>>()?;
    let marked = reports::mark_each(&api.app, user.account.id, ids)
        .await
        .map_err(|fault| user.fail(fault))?;
    let back = match fields.get("back") {
        "" => "/reports",
        back => safe_path(back),
    };
    Ok(match marked {
        0 => user.redirect_with_error(back, t.none_marked),
        marked => user.redirect_with_notice(back, format!("{} {marked}", t.marked)),
    })
}

/// A running CSV export.
struct Export {
    api: Arc<HttpState>,
    account: AccountId,
    lang: Lang,
    filter: ReportFilter,
    names: Arc<RestaurantNames>,
    is_pending: bool,
    cursor: Option<i64>,
}

impl Export {
    async fn read(&self) -> Result<Page<OrderSummary>, Fault> {
        let (app, account) = (&self.api.app, self.account);
        let (restaurant, period) = (self.filter.restaurant, self.filter.days.period());
        let request = PageRequest {
            limit: CHUNK_SIZE,
            cursor: self.cursor,
            direction: Direction::Older,
        };
        if self.is_pending {
            let all = Vec::new();
            reports::list_pending(app, account, restaurant, all, period, request, |_, page| Ok(page)).await
        } else {
            reports::list_period(app, account, restaurant, period, request).await
        }
    }

    fn csv_row(&self, order: OrderSummary) -> String {
        let t = ReportWords::of(self.lang);
        let (amount, currency) = (csv::amount(order.total), order.currency);
        let reported = if order.is_report { t.yes } else { t.no };
        let row = OrderRow::new(self.lang, &self.names, order);
        csv::row(&[
            csv::text(&row.at),
            csv::text(&row.restaurant),
            csv::text(&row.platform),
            csv::text(&row.order),
            csv::text(&row.code),
            csv::text(row.status),
            csv::text(row.payment),
            amount,
            csv::text(currency.as_str()),
            csv::text(reported),
        ])
    }
}

impl csv::RowSource for Export {
    async fn next_chunk(mut self) -> Result<(String, Option<Self>), Fault> {
        let found = self.read().await?;
        let chunk = found.items.into_iter().map(|order| self.csv_row(order)).collect();
        self.cursor = found.next;
        let has_more = self.cursor.is_some();
        Ok((chunk, has_more.then_some(self)))
    }
}

async fn export(
    api: Arc<HttpState>,
    user: CurrentUser,
    query: Option<String>,
    is_pending: bool,
) -> Result<Response, PanelError> {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let filter = ReportFilter::read(&params);
    if filter.days.is_invalid() {
        // The page shows the error; an export of other days could go unnoticed.
        return Ok(Redirect::to(&filter.url("/reports")).into_response());
    }
    let (_, names) = restaurant_choices(&api, &user, None).await?;
    let t = ReportWords::of(user.lang);
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
        account: user.account.id,
        lang: user.lang,
        names: Arc::new(names),
        cursor: None,
        api,
        filter,
        is_pending,
    };
    csv::download(&format!("{file}-{today}"), heading, export)
        .await
        .map_err(|fault| user.fail(fault))
}

async fn export_pending(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    export(api, user, query, true).await
}

async fn export_period(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    export(api, user, query, false).await
}
