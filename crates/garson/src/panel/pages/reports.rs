//! Reports: delivered orders that are not yet transferred to accounting, marking them, taking marks back, and files.

mod export;

use crate::flow::Fault;
use crate::flow::fault::Thing;
use crate::flow::read::order_scope;
use crate::flow::read::period::read_calendar;
use crate::flow::read::report_marks::{self, REPORTABLE};
use crate::flow::read::reports;
use crate::http::state::HttpState;
use crate::panel::components::first_steps::FirstSteps;
use crate::panel::components::report_filter::{ReportFilter, RestaurantNames, restaurant_choices};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::paging::Pager;
use crate::panel::kit::redirect::safe_path;
use crate::panel::kit::short_id::ShortId;
use crate::panel::kit::user_form::UserForm;
use crate::panel::kit::{format, names, paging};
use crate::panel::words::Lang;
use crate::panel::words::ReportWords;
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::id::OrderId;
use garson_core::time::Zone;
use garson_store::lists::feed::Page;
use garson_store::lists::orders::OrderSummary;
use std::sync::Arc;

const PAGE_SIZE: usize = 50;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/reports", get(show_reports))
        .route("/reports/mark", post(mark_orders))
        .route("/reports/unmark", post(unmark_orders))
        .merge(export::routes())
}

/// An order in the list.
struct OrderRow {
    id: OrderId,
    at: String,
    restaurant: String,
    platform: String,
    order: ShortId,
    code: String,
    status: &'static str,
    payment: &'static str,
    total: String,
}

impl OrderRow {
    fn new(lang: Lang, zone: &Zone, names: &RestaurantNames, order: OrderSummary) -> Self {
        Self {
            id: order.id,
            at: format::timestamp(lang, zone, order.created_at),
            restaurant: names.get(&order.restaurant_id).cloned().unwrap_or_default(),
            platform: format::provider(lang, order.provider),
            order: ShortId::new(order.provider_order_id),
            code: order.short_code.unwrap_or_default(),
            status: names::status(lang, order.status),
            payment: names::payment(lang, order.payment_type),
            total: format::money(lang, order.total, order.currency),
        }
    }
}

/// A link with a name.
struct Tab {
    href: String,
    name: &'static str,
    is_current: bool,
}

#[derive(Template)]
#[template(path = "reports.html")]
struct ReportsPage {
    layout: Layout,
    t: ReportWords,
    tabs: Vec<Tab>,
    /// Common periods.
    days: Vec<Tab>,
    restaurant: Field,
    from: Field,
    to: Field,
    /// The days are invalid, so nothing is listed.
    is_invalid: bool,
    /// The list has the marked orders instead of the pending ones.
    is_marked: bool,
    rows: Vec<OrderRow>,
    first_steps: Option<FirstSteps>,
    pager: Pager,
    /// Files for spreadsheets.
    files: Vec<Tab>,
}

async fn show_reports(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let (account, lang) = (user.account.id, user.lang);
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let filter = ReportFilter::read(&user, &params)?;
    let is_marked = params.get("list") == "marked";
    let request = paging::page_request(&params, PAGE_SIZE);
    let (only, period) = (filter.restaurant, filter.days.period());
    let is_invalid = filter.days.is_invalid();
    let found = if is_invalid {
        Ok(Page::empty(request))
    } else if is_marked {
        reports::list_reported(&api.app, account, only, period, request).await
    } else {
        let statuses = REPORTABLE.to_vec();
        reports::list_pending(&api.app, account, only, statuses, period, request, |_, page| {
            Ok(page)
        })
        .await
    };
    let found = found.map_err(|fault| user.fail(fault))?;
    let (choices, names) = restaurant_choices(&api, &user, filter.restaurant).await?;
    let first_steps = if found.items.is_empty() && !is_invalid {
        FirstSteps::read(&api, &user).await?
    } else {
        None
    };
    let calendar = read_calendar(&api.app, account, only)
        .await
        .map_err(|fault| user.fail(fault))?;
    let id = filter.restaurant_text();
    let t = ReportWords::of(lang);
    let [from, to] = filter.days.fields(lang, t.from, t.to);
    let list = if is_marked { "marked" } else { "" };
    let mut all: Vec<(&str, &str)> = vec![("list", list)];
    all.extend(filter.params(&id));
    let file = |path: &str, name| Tab {
        href: filter.url(path),
        name,
        is_current: false,
    };
    Ok(page(&ReportsPage {
        layout: user.layout(NavItem::Reports).in_zone(calendar.zone().clone()),
        tabs: tabs(&t, &filter, &id, is_marked),
        days: days(&t, &filter, &id, list, &calendar.day_of(api.app.now())),
        restaurant: Field::new("restaurant", t.restaurant, FieldKind::Select(choices)),
        from,
        to,
        is_invalid,
        is_marked,
        first_steps,
        pager: paging::pager("/reports", &all, request, &found),
        rows: found
            .items
            .into_iter()
            .map(|order| OrderRow::new(lang, calendar.zone(), &names, order))
            .collect(),
        files: vec![
            file("/reports/pending.csv", t.pending_csv),
            file("/reports/pending.xlsx", t.pending_xlsx),
            file("/reports/orders.csv", t.period_csv),
            file("/reports/orders.xlsx", t.period_xlsx),
        ],
        t,
    }))
}

/// Pending and marked orders.
fn tabs(t: &ReportWords, filter: &ReportFilter, restaurant: &str, is_marked: bool) -> Vec<Tab> {
    let tab = |list: &'static str, name, is_current| {
        let mut all: Vec<(&str, &str)> = vec![("list", list)];
        all.extend(filter.params(restaurant));
        Tab {
            href: paging::url("/reports", &all),
            name,
            is_current,
        }
    };
    vec![
        tab("", t.tab_pending, !is_marked),
        tab("marked", t.tab_marked, is_marked),
    ]
}

/// Today and yesterday.
fn days(t: &ReportWords, filter: &ReportFilter, restaurant: &str, list: &str, today: &str) -> Vec<Tab> {
    let yesterday = Zone::day_before(today).unwrap_or_default();
    let tab = |day: &str, name| Tab {
        href: paging::url(
            "/reports",
            &[
                ("list", list),
                ("restaurant", restaurant),
                ("from", day),
                ("to", day),
            ],
        ),
        name,
        is_current: filter.days.from == day && filter.days.to == day,
    };
    vec![
        tab(today, t.today),
        tab(&yesterday, t.yesterday),
        Tab {
            href: paging::url("/reports", &[("list", list), ("restaurant", restaurant)]),
            name: t.all_days,
            is_current: filter.days.is_empty(),
        },
    ]
}

/// The orders that a form names: that of the pressed button, or all of the page.
fn chosen(user: &CurrentUser, fields: &FormData) -> Result<Vec<OrderId>, PanelError> {
    let name = if fields.get("one").is_empty() {
        "order"
    } else {
        "one"
    };
    let ids = fields.all(name).take(PAGE_SIZE).map(|id| {
        id.parse()
            .map_err(|_| user.fail(Fault::not_found(Thing::Order, id)))
    });
    ids.collect()
}

/// Where a form came from.
fn back(fields: &FormData) -> &str {
    match fields.get("back") {
        "" => "/reports",
        back => safe_path(back),
    }
}

/// Those of these orders that are in the user's restaurants.
async fn own_orders(
    api: &HttpState,
    user: &CurrentUser,
    ids: Vec<OrderId>,
) -> Result<Vec<OrderId>, PanelError> {
    order_scope::only_own(&api.app, user.account.id, user.scope().clone(), ids)
        .await
        .map_err(|fault| user.fail(fault))
}

async fn mark_orders(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let t = ReportWords::of(user.lang);
    let ids = own_orders(&api, &user, chosen(&user, &fields)?).await?;
    let marked = report_marks::mark_each(&api.app, user.by(), ids)
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(match marked {
        0 => user.redirect_with_error(back(&fields), t.none_marked),
        marked => user.redirect_with_notice(back(&fields), format!("{} {marked}. {}", t.marked, t.undo_hint)),
    })
}

async fn unmark_orders(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let t = ReportWords::of(user.lang);
    let ids = own_orders(&api, &user, chosen(&user, &fields)?).await?;
    let unmarked = report_marks::unmark_each(&api.app, user.by(), ids)
        .await
        .map_err(|fault| user.fail(fault))?;
    Ok(match unmarked {
        0 => user.redirect_with_error(back(&fields), t.none_unmarked),
        unmarked => user.redirect_with_notice(back(&fields), format!("{} {unmarked}", t.unmarked)),
    })
}
