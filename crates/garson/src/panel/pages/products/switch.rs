//! Products are switched on and off: one by its button, or all that are selected.

use super::ids::product_id;
use crate::flow::admin::restaurants;
use crate::flow::products::availability::{
    ProductOutcome, ProductSwitch, Switch, SwitchTo, set_within, tomorrows_opening,
};
use crate::flow::products::list;
use crate::flow::products::list::ListedProduct;
use crate::http::state::HttpState;
use crate::panel::components::product_row::{ProductRow, RowOptions};
use crate::panel::components::restaurant_header::{restaurant_id, restaurant_layout, zone_of};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, fragment};
use crate::panel::kit::local_time;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::ProductWords;
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use garson_core::id::ProductId;
use garson_core::restaurant::Restaurant;
use garson_core::store_control::Requester;
use garson_core::time::{Timestamp, Zone};
use garson_store::tables::desired_items::DesiredItemState;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// How long the page waits for the platforms; the rest continues in the background, and the row shows it.
const WAIT: Duration = Duration::from_secs(3);
const HOUR: Duration = Duration::from_secs(3_600);
/// The longest time for which a product can be off until a time.
const MAX_TIME: Duration = Duration::from_secs(366 * 86_400);
/// Products in one request.
const MAX_PRODUCTS: usize = 500;

/// What the pressed button wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    On,
    UntilDayEnd,
    ForAnHour,
    UntilOpening,
    UntilSwitchedOn,
    UntilTime,
}

impl Wanted {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "on" => Self::On,
            "day" => Self::UntilDayEnd,
            "hour" => Self::ForAnHour,
            "opening" => Self::UntilOpening,
            "never" => Self::UntilSwitchedOn,
            "until" => Self::UntilTime,
            _ => return None,
        })
    }

    /// None: the time that was entered cannot be.
    fn switch_to(
        self,
        now: Timestamp,
        opening: Option<Timestamp>,
        entered: &str,
        zone: &Zone,
    ) -> Option<SwitchTo> {
        Some(match self {
            Self::On => SwitchTo::On,
            Self::UntilDayEnd => SwitchTo::OffForTheDay,
            Self::ForAnHour => SwitchTo::OffUntil(now.plus(HOUR)),
            Self::UntilOpening => opening.map_or(SwitchTo::OffForTheDay, SwitchTo::OffUntil),
            Self::UntilSwitchedOn => SwitchTo::Off,
            Self::UntilTime if entered.is_empty() => SwitchTo::Off,
            Self::UntilTime => {
                let at = local_time::parse(zone, entered)?;
                if at <= now || at > now.plus(MAX_TIME) {
                    return None;
                }
                SwitchTo::OffUntil(at)
            }
        })
    }
}

/// The rows of changed products, as the script puts them into the page.
#[derive(Template)]
#[template(ext = "html", source = "{% for row in rows %}{{ row|safe }}{% endfor %}")]
struct Rows {
    rows: Vec<ProductRow>,
}

/// The state that the button requests, and its products: its own, or the selected ones.
fn pressed(user: &CurrentUser, fields: &FormData) -> Result<(Option<Wanted>, Vec<ProductId>), PanelError> {
    let given = fields.get("do");
    let (name, ids) = match given.split_once(':') {
        Some((name, id)) => (name, vec![id]),
        None => (given, fields.all("product").collect()),
    };
    let mut products: Vec<ProductId> = Vec::with_capacity(ids.len().min(MAX_PRODUCTS + 1));
    for id in ids.into_iter().take(MAX_PRODUCTS + 1) {
        let id = product_id(user, id)?;
        if !products.contains(&id) {
            products.push(id);
        }
    }
    Ok((Wanted::named(name), products))
}

pub async fn switch_products(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let id = restaurant_id(&user, &id)?;
    let (app, account) = (&api.app, user.account.id);
    let restaurant = restaurants::get(app, account, id).await.map_err(fail)?;
    let t = ProductWords::of(user.lang);
    let back = user.here.clone();
    let (wanted, ids) = pressed(&user, &fields)?;
    let Some(wanted) = wanted.filter(|_| !ids.is_empty()) else {
        return Ok(user.redirect_with_error(&back, t.none_picked));
    };
    if ids.len() > MAX_PRODUCTS {
        return Ok(user.redirect_with_error(&back, t.too_many_picked));
    }
    let opening = tomorrows_opening(app, account, id).await.map_err(fail)?;
    let zone = zone_of(&restaurant);
    let Some(to) = wanted.switch_to(app.now(), opening, fields.get("until"), &zone) else {
        return Ok(user.redirect_with_error(&back, t.until_wrong));
    };
    let switch = Switch {
        restaurant: id,
        products: ids
            .iter()
            .map(|product| ProductSwitch {
                product: *product,
                to,
            })
            .collect(),
        providers: Vec::new(),
        requester: Requester::Panel,
    };
    let outcomes = set_within(app, user.by(), switch, WAIT).await.map_err(fail)?;
    let listed = list::some(app, account, id, ids).await.map_err(fail)?;
    if user.wants_fragment {
        let options = RowOptions {
            has_box: fields.get("place") == "list",
            has_opening: opening.is_some(),
        };
        return Ok(rows(&user, &restaurant, &listed, options, app.now()));
    }
    let (is_fine, text) = summary(&restaurant_layout(&user, &restaurant), &t, &listed, &outcomes);
    Ok(if is_fine {
        user.redirect_with_notice(&back, text)
    } else {
        user.redirect_with_error(&back, text)
    })
}

fn rows(
    user: &CurrentUser,
    restaurant: &Restaurant,
    listed: &[ListedProduct],
    options: RowOptions,
    now: Timestamp,
) -> Response {
    let layout = restaurant_layout(user, restaurant);
    let row = |it| ProductRow::new(&layout, restaurant.id, it, options, now);
    fragment(&Rows {
        rows: listed.iter().map(row).collect(),
    })
}

fn state_name(t: &ProductWords, state: DesiredItemState) -> &'static str {
    match state {
        DesiredItemState::Pending => t.waiting,
        DesiredItemState::Done => t.done,
        DesiredItemState::Refused => t.refused,
        DesiredItemState::Unsupported => t.unsupported,
    }
}

/// The result in one sentence, and whether no platform has refused.
fn summary(
    layout: &Layout,
    t: &ProductWords,
    listed: &[ListedProduct],
    outcomes: &[ProductOutcome],
) -> (bool, String) {
    let items = || outcomes.iter().flat_map(|it| &it.items);
    if items().next().is_none() {
        return (false, t.no_platform.to_owned());
    }
    let is_fine = !items().any(|it| it.state == DesiredItemState::Refused);
    if let [one] = listed {
        let states: Vec<String> = items()
            .map(|it| {
                let provider = layout.provider(&it.key.provider);
                format!("{provider} {}", state_name(t, it.state))
            })
            .collect();
        return (is_fine, format!("{}: {}.", one.product.name, states.join(", ")));
    }
    let mut counts: HashMap<&'static str, usize> = HashMap::new();
    for item in items() {
        *counts.entry(state_name(t, item.state)).or_default() += 1;
    }
    let mut parts: Vec<String> = counts
        .into_iter()
        .map(|(name, count)| format!("{name}: {count}"))
        .collect();
    parts.sort_unstable();
    (
        is_fine,
        format!("{} {}. {}.", listed.len(), t.changed, parts.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_say_for_how_long() {
        let now: Timestamp = "2026-11-18T12:00:00.000+03:00".parse().unwrap();
        let opening: Timestamp = "2026-11-19T10:00:00.000+03:00".parse().unwrap();
        let zone = Zone::istanbul();
        let to = |name: &str, entered: &str| {
            Wanted::named(name).and_then(|it| it.switch_to(now, Some(opening), entered, &zone))
        };
        assert_eq!(to("on", ""), Some(SwitchTo::On));
        assert_eq!(to("day", ""), Some(SwitchTo::OffForTheDay));
        assert_eq!(to("opening", ""), Some(SwitchTo::OffUntil(opening)));
        assert_eq!(to("hour", ""), Some(SwitchTo::OffUntil(now.plus(HOUR))));
        assert_eq!(to("never", ""), Some(SwitchTo::Off));
        assert_eq!(to("until", ""), Some(SwitchTo::Off));
        assert_eq!(to("until", "2026-11-19T10:00"), Some(SwitchTo::OffUntil(opening)));
        assert_eq!(to("until", "2026-11-18T11:59"), None, "it is over");
        assert_eq!(to("until", "soon"), None);
        assert_eq!(Wanted::named("x"), None);
    }
}
