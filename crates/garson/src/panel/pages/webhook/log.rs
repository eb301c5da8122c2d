//! The delivery log.

use crate::flow::Fault;
use crate::flow::admin::accounts;
use crate::flow::read::search;
use crate::http::state::HttpState;
use crate::panel::components::day_range::DayRange;
use crate::panel::components::delivery_row::{LogRow, NameLookup};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Choice, Field};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::Layout;
use crate::panel::kit::paging::Pager;
use crate::panel::kit::{names, paging};
use crate::panel::words::DeliveryWords;
use garson_core::delivery::DeliveryState;
use garson_core::event;
use garson_store::lists::events::EventFilter;
use garson_store::lists::feed::Page;

const PAGE_SIZE: usize = 25;

/// The events of some days. Invalid days are marked in the form, and narrow nothing.
fn period(days: &DayRange, layout: &Layout) -> EventFilter {
    if days.is_invalid() {
        return EventFilter::default();
    }
    EventFilter {
        from: layout.zone.start_of_day(&days.from),
        to: layout.zone.end_of_day(&days.to),
        ..EventFilter::default()
    }
}

/// A page of the log with its filters.
pub struct DeliveryLog {
    pub states: Vec<Choice>,
    pub events: Vec<Choice>,
    pub from: Field,
    pub to: Field,
    pub order: String,
    pub has_filters: bool,
    /// The order filter matched nothing.
    pub has_no_order: bool,
    /// The search for all orders with the same code, if there are several.
    pub same_code_url: Option<String>,
    pub rows: Vec<LogRow>,
    pub pager: Pager,
}

impl DeliveryLog {
    pub async fn read(
        api: &HttpState,
        user: &CurrentUser,
        layout: &Layout,
        params: &FormData,
    ) -> Result<Self, PanelError> {
        let (app, account) = (&api.app, user.account.id);
        let fail = |fault| user.fail(fault);
        let state = DeliveryState::named(params.get("state"));
        let request = paging::page_request(params, PAGE_SIZE);
        let days = DayRange::read(params);
        let name = event::NAMES.into_iter().find(|name| *name == params.get("event"));
        let filter = EventFilter {
            state,
            name: name.map(str::to_owned),
            ..period(&days, layout)
        };
        let list = |order| accounts::list_deliveries(app, account, filter.clone(), order, request);
        let (mut has_no_order, mut has_same_code) = (false, false);
        let found = match list(params.non_empty("order")).await {
            Ok(found) => found,
            Err(Fault::NotFound(_) | Fault::AmbiguousOrder { .. }) => {
                // Not an order id; staff know orders by their codes.
                let matching = search::by_code(app, account, params.get("order"))
                    .await
                    .map_err(fail)?;
                has_same_code = matching.len() > 1;
                has_no_order = matching.is_empty();
                match matching.first() {
                    Some(newest) => list(Some(newest.to_string())).await.map_err(fail)?,
                    None => Page::empty(request),
                }
            }
            Err(fault) => return Err(fail(fault)),
        };
        let filters = [
            ("state", state.map_or("", DeliveryState::as_str)),
            ("order", params.get("order")),
            ("event", name.unwrap_or_default()),
            ("from", days.from.as_str()),
            ("to", days.to.as_str()),
        ];
        let pager = paging::pager("/webhook", &filters, request, &found);
        let lookup = NameLookup::read(api, user, &found.items).await?;
        let t = DeliveryWords::of(user.lang);
        let mut states = vec![Choice::new("", t.any, state.is_none())];
        states.extend(
            DeliveryState::ALL
                .map(|it| Choice::new(it.as_str(), names::delivery_state(&t, it).0, state == Some(it))),
        );
        let mut events = vec![Choice::new("", t.any, name.is_none())];
        events.extend(event::NAMES.map(|it| Choice::new(it, it, name == Some(it))));
        let [from, to] = days.fields(user.lang, t.from, t.to);
        Ok(Self {
            states,
            events,
            from,
            to,
            order: params.get("order").to_owned(),
            has_filters: filters.iter().any(|(_, value)| !value.is_empty()),
            has_no_order,
            same_code_url: has_same_code.then(|| paging::url("/orders", &[("q", params.get("order"))])),
            rows: found
                .items
                .into_iter()
                .map(|it| LogRow::new(layout, &lookup, it))
                .collect(),
            pager,
        })
    }
}
