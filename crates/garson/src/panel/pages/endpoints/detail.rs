//! One endpoint: its state, settings, statistics and deliveries.

use super::fields::{Form, form};
use super::shown::{last_failure, name, parse_id, percent, state};
use crate::flow::admin::endpoints::ChangedEndpoint;
use crate::flow::admin::{endpoint_log, endpoints};
use crate::flow::deliver::stats;
use crate::flow::deliver::stats::EndpointStatistics;
use crate::http::state::HttpState;
use crate::panel::components::chart::{Bar, Chart, HEIGHT, WIDTH};
use crate::panel::components::delivery_row::{LogRow, NameLookup};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Choice;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::paging::Pager;
use crate::panel::kit::{format, names, paging};
use crate::panel::words::{DeliveryWords, EndpointWords};
use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use garson_core::delivery::DeliveryState;
use garson_core::id::EndpointId;
use garson_core::time::Timestamp;
use garson_core::webhook_endpoint::{EndpointState, WebhookEndpoint};
use std::sync::Arc;

const PAGE_SIZE: usize = 25;
/// The chart shows this many of the newest hours with attempts.
const MAX_BARS: usize = 48;

/// Secrets that a change has made, and what it was.
pub struct Shown {
    notice: &'static str,
    token: Option<String>,
    secret: Option<String>,
}

impl Shown {
    pub fn of(changed: ChangedEndpoint, notice: &'static str) -> Self {
        Self {
            notice,
            token: changed.token.map(|it| it.expose().clone()),
            secret: changed.signing_secret.map(|it| it.expose().clone()),
        }
    }
}

struct Statistics {
    attempts: i64,
    failures: i64,
    success: String,
    median: String,
    slowest: String,
    last_failure: Option<String>,
    chart: Option<Chart>,
}

impl Statistics {
    fn new(layout: &Layout, statistics: &EndpointStatistics) -> Self {
        let millis = |value: Option<i64>| value.map_or_else(|| "–".to_owned(), |ms| format!("≤ {ms} ms"));
        let total = &statistics.total;
        let skipped = statistics.hours.len().saturating_sub(MAX_BARS);
        let bars: Vec<Bar> = statistics
            .hours
            .iter()
            .skip(skipped)
            .map(|hour| {
                let from = Timestamp::from_millis(hour.hour * 3_600_000);
                let ms = hour.percentile_ms(95).unwrap_or_default();
                let at = format::timestamp(layout.lang, &layout.zone, from);
                Bar {
                    name: format::time_of_day(&layout.zone, from),
                    parts: vec![("k-online-card", ms, format!("{at}: ≤ {ms} ms"))],
                }
            })
            .collect();
        Self {
            attempts: total.attempts,
            failures: total.failures,
            success: percent(layout.lang, statistics.success_per_mille()),
            median: millis(total.percentile_ms(50)),
            slowest: millis(total.percentile_ms(95)),
            last_failure: last_failure(layout, statistics),
            chart: (!bars.is_empty()).then(|| Chart::draw(bars, |ms| ms.to_string())),
        }
    }
}

#[derive(Template)]
#[template(path = "endpoint.html")]
struct EndpointPage {
    layout: Layout,
    t: EndpointWords,
    d: DeliveryWords,
    name: String,
    endpoint: WebhookEndpoint,
    is_default: bool,
    state: &'static str,
    tone: &'static str,
    form: Form,
    problem: Option<String>,
    shown: Option<Shown>,
    rotate_action: String,
    delete_action: String,
    statistics: Statistics,
    width: i64,
    height: i64,
    states: Vec<Choice>,
    rows: Vec<LogRow>,
    pager: Pager,
}

impl EndpointPage {
    fn is_active(&self) -> bool {
        self.endpoint.state == EndpointState::Active
    }

    fn is_disabled(&self) -> bool {
        self.endpoint.state == EndpointState::Disabled
    }
}

pub async fn show(
    api: &HttpState,
    user: &CurrentUser,
    id: EndpointId,
    params: &FormData,
    rejected: Option<(&FormData, &FormErrors)>,
    shown: Option<Shown>,
) -> Result<Response, PanelError> {
    let (app, account) = (&api.app, user.account.id);
    let fail = |fault| user.fail(fault);
    let endpoint = endpoints::get(app, account, id).await.map_err(fail)?;
    let statistics = stats::read(app, account, id).await.map_err(fail)?;
    let (t, d) = (EndpointWords::of(user.lang), DeliveryWords::of(user.lang));
    let here = format!("/webhook/endpoints/{id}");
    let layout = Layout {
        here: here.clone(),
        ..user.layout(NavItem::Webhook)
    };
    let mut form = form(api, user, Some(&endpoint), rejected.map(|(typed, _)| typed)).await?;
    let wrong = rejected.map(|(_, wrong)| wrong);
    let problem = wrong.map(|wrong| wrong.mark(form.main.iter_mut()));
    let wanted = DeliveryState::named(params.get("state"));
    let request = paging::page_request(params, PAGE_SIZE);
    let found = endpoint_log::list(app, account, id, wanted, None, request)
        .await
        .map_err(fail)?;
    let filters = [("state", wanted.map_or("", DeliveryState::as_str))];
    let pager = paging::pager(&here, &filters, request, &found);
    let lookup = NameLookup::read(api, user, &found.items).await?;
    let mut states = vec![Choice::new("", d.any, wanted.is_none())];
    states.extend(
        DeliveryState::ALL
            .map(|it| Choice::new(it.as_str(), names::delivery_state(&d, it).0, wanted == Some(it))),
    );
    let (state, tone) = state(&t, &endpoint);
    let page = page(&EndpointPage {
        name: name(&t, account, &endpoint),
        is_default: id.is_default_of(account),
        rotate_action: format!("{here}/rotate"),
        delete_action: format!("{here}/delete"),
        statistics: Statistics::new(&layout, &statistics),
        rows: found
            .items
            .into_iter()
            .map(|it| LogRow::new(&layout, &lookup, it))
            .collect(),
        width: WIDTH,
        height: HEIGHT,
        layout,
        t,
        d,
        endpoint,
        state,
        tone,
        form,
        problem,
        shown,
        states,
        pager,
    });
    Ok(form_page(page, wrong))
}

pub async fn show_endpoint(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let id = parse_id(&user, &id)?;
    show(&api, &user, id, &params, None, None).await
}
