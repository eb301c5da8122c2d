//! Orders as files for spreadsheets and accounting programs.

use crate::flow::Fault;
use crate::flow::admin::audit::record_export;
use crate::flow::read::period::read_calendar;
use crate::flow::read::report_marks::REPORTABLE;
use crate::flow::read::reports;
use crate::flow::read::reports::BilledOrder;
use crate::http::state::HttpState;
use crate::http::table_file::{Cell, FileFormat, RowSource, download};
use crate::panel::components::report_filter::{ReportFilter, RestaurantNames, restaurant_choices};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::{format, names};
use crate::panel::words::{Lang, OrderWords, ReportWords};
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use garson_core::id::AccountId;
use garson_core::order::Courier;
use garson_core::time::Zone;
use garson_store::lists::feed::{Direction, Page, PageRequest};
use std::sync::Arc;

/// Orders in a chunk of a file.
const CHUNK_SIZE: usize = 250;

pub fn routes() -> Router<Arc<HttpState>> {
    let file = |is_pending, file_format| {
        get(
            move |state: State<Arc<HttpState>>, user: CurrentUser, query: RawQuery| {
                export(state, user, query, is_pending, file_format)
            },
        )
    };
    Router::new()
        .route("/reports/pending.csv", file(true, FileFormat::Csv))
        .route("/reports/pending.xlsx", file(true, FileFormat::Xlsx))
        .route("/reports/orders.csv", file(false, FileFormat::Csv))
        .route("/reports/orders.xlsx", file(false, FileFormat::Xlsx))
}

/// A running export.
struct Export {
    api: Arc<HttpState>,
    account: AccountId,
    lang: Lang,
    filter: ReportFilter,
    names: Arc<RestaurantNames>,
    zone: Zone,
    is_pending: bool,
    cursor: Option<i64>,
}

impl Export {
    async fn read(&self) -> Result<Page<BilledOrder>, Fault> {
        let (app, account) = (&self.api.app, self.account);
        let (restaurant, period) = (self.filter.restaurant, self.filter.days.period());
        let request = PageRequest {
            limit: CHUNK_SIZE,
            cursor: self.cursor,
            direction: Direction::Older,
        };
        let make = reports::with_billing;
        if self.is_pending {
            let statuses = REPORTABLE.to_vec();
            reports::list_pending(app, account, restaurant, statuses, period, request, make).await
        } else {
            reports::list_period(app, account, restaurant, period, request, make).await
        }
    }

    /// A row; the columns are those of [`heading`].
    fn row(&self, it: BilledOrder) -> Vec<Cell> {
        let (lang, t) = (self.lang, ReportWords::of(self.lang));
        let BilledOrder {
            order,
            billing,
            cancellation,
        } = it;
        let amount = &billing.amount;
        let courier = match billing.fulfilment.courier {
            Courier::Platform => t.courier_platform,
            Courier::Restaurant => t.courier_restaurant,
            Courier::None => t.courier_none,
        };
        let by = cancellation
            .as_ref()
            .map(|it| names::actor(&OrderWords::of(lang), it.by));
        let reason = cancellation
            .and_then(|it| it.reason)
            .map(|reason| names::reason(lang, &reason.name));
        vec![
            Cell::time(
                format::timestamp(lang, &self.zone, order.created_at),
                &self.zone,
                order.created_at,
            ),
            Cell::optional(self.names.get(&order.restaurant_id).cloned()),
            Cell::text(format::provider(lang, order.provider)),
            Cell::text(order.provider_order_id),
            Cell::optional(order.short_code),
            Cell::text(names::status(lang, order.status)),
            Cell::text(names::payment(lang, order.payment_type)),
            Cell::Amount(order.total),
            Cell::text(order.currency.as_str()),
            Cell::text(if order.is_report { t.yes } else { t.no }),
            Cell::optional(billing.customer.name),
            Cell::text(courier),
            Cell::Amount(amount.subtotal),
            Cell::Amount(amount.discount),
            Cell::Amount(amount.delivery_fee),
            Cell::Amount(amount.tip),
            Cell::optional(by),
            Cell::optional(reason),
        ]
    }
}

fn heading(t: &ReportWords) -> [&'static str; 18] {
    [
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
        t.customer,
        t.courier,
        t.subtotal,
        t.discount,
        t.delivery_fee,
        t.tip,
        t.cancelled_by,
        t.cancel_reason,
    ]
}

impl RowSource for Export {
    async fn next_chunk(mut self) -> Result<(Vec<Vec<Cell>>, Option<Self>), Fault> {
        let found = self.read().await?;
        let rows = found.items.into_iter().map(|order| self.row(order)).collect();
        self.cursor = found.next;
        let has_more = self.cursor.is_some();
        Ok((rows, has_more.then_some(self)))
    }
}

async fn export(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
    is_pending: bool,
    file_format: FileFormat,
) -> Result<Response, PanelError> {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let filter = ReportFilter::read(&user, &params)?;
    if filter.days.is_invalid() {
        // The page shows the error; an export of other days could go unnoticed.
        return Ok(Redirect::to(&filter.url("/reports")).into_response());
    }
    let (_, names) = restaurant_choices(&api, &user, None).await?;
    let t = ReportWords::of(user.lang);
    let name = if is_pending { t.file_pending } else { t.file_period };
    let calendar = read_calendar(&api.app, user.account.id, filter.restaurant)
        .await
        .map_err(|fault| user.fail(fault))?;
    let today = calendar.day_of(api.app.now());
    let what = if is_pending { "unreported orders" } else { "orders" };
    record_export(
        &api.app,
        user.by(),
        what,
        filter.restaurant,
        (&filter.days.from, &filter.days.to),
    )
    .await
    .map_err(|fault| user.fail(fault))?;
    let export = Export {
        account: user.account.id,
        zone: calendar.zone().clone(),
        lang: user.lang,
        names: Arc::new(names),
        cursor: None,
        api,
        filter,
        is_pending,
    };
    download(file_format, &format!("{name}-{today}"), &heading(&t), export)
        .await
        .map_err(|fault| user.fail(fault))
}
