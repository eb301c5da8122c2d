//! The form of a new key: what it is called, what it may do, and for how long.

use crate::flow::Fault;
use crate::flow::admin::input::Line;
use crate::flow::admin::keys::NewKey;
use crate::flow::admin::restaurants;
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_input::optional;
use crate::panel::words::KeyWords;
use garson_core::field_problem::FieldProblem;
use garson_core::id::RestaurantId;
use garson_core::key_access::{KeyAccess, Scope};
use garson_core::network::Network;
use garson_core::permission::RestaurantScope;
use garson_core::time::Timestamp;
use std::time::Duration;

/// More restaurants than these are not offered as check boxes; the API takes any.
const MAX_BOXES: usize = 50;
/// The lifetimes that can be chosen, in days; 0 is no end.
const DAYS: [u32; 4] = [0, 30, 90, 365];

pub struct KeyForm {
    pub label: Field,
    pub days: Field,
    pub networks: Field,
    pub all_scopes: Field,
    pub scopes: Vec<Field>,
    pub restaurants: Vec<Field>,
}

impl KeyForm {
    pub fn fields(&mut self) -> impl Iterator<Item = &mut Field> {
        [
            &mut self.label,
            &mut self.days,
            &mut self.networks,
            &mut self.all_scopes,
        ]
        .into_iter()
    }
}

/// What a scope is called.
pub fn scope_text(t: &KeyWords, scope: Scope) -> &'static str {
    match scope {
        Scope::OrdersRead => t.orders_read,
        Scope::OrdersAct => t.orders_act,
        Scope::Reports => t.reports,
        Scope::RestaurantsRead => t.restaurants_read,
        Scope::Stores => t.stores,
        Scope::Menus => t.menus,
        Scope::Settings => t.settings,
        Scope::Webhooks => t.webhooks,
        Scope::Keys => t.keys,
        Scope::Users => t.users,
        Scope::Audit => t.audit,
        Scope::Privacy => t.privacy,
    }
}

/// May the user give a key this scope?
fn may_give(user: &CurrentUser, scope: Scope) -> bool {
    !scope.is_sensitive() || scope.permissions().iter().all(|it| user.may(*it))
}

/// The form, empty or with what was typed.
pub async fn form(
    api: &HttpState,
    user: &CurrentUser,
    typed: Option<&FormData>,
) -> Result<KeyForm, PanelError> {
    let t = KeyWords::of(user.lang);
    let value = |name: &str| typed.map_or_else(String::new, |typed| typed.get(name).to_owned());
    let is_checked = |name: &str| typed.is_some_and(|typed| typed.is_checked(name));
    let check = |group: &str, id: &str, label: String| {
        let name = format!("{group}.{id}");
        let is_on = is_checked(&name);
        Field::new(name, label, FieldKind::Checkbox(is_on))
    };
    let days = DAYS.map(|days| {
        let name = match days {
            0 => t.no_end.to_owned(),
            days => format!("{days} {}", t.days),
        };
        Choice::new(days.to_string(), name, value("days") == days.to_string())
    });
    let may_give_all = Scope::ALL.into_iter().all(|scope| may_give(user, scope));
    let chooses_some = !may_give_all || value("access") == "some";
    let mut access = vec![Choice::new("some", t.some_scopes, chooses_some)];
    if may_give_all {
        access.insert(0, Choice::new("all", t.all_scopes, !chooses_some));
    }
    let mut known = restaurants::names(&api.app, user.account.id)
        .await
        .map_err(|fault| user.fail(fault))?;
    known.truncate(MAX_BOXES);
    Ok(KeyForm {
        label: Field::text("label", t.label)
            .hint(t.label_hint)
            .length(0, 200)
            .value(value("label")),
        days: Field::new("days", t.end, FieldKind::Select(days.into())),
        networks: Field::text("networks", t.networks)
            .hint(t.networks_hint)
            .length(0, 2_000)
            .value(value("networks")),
        all_scopes: Field::new("access", t.access, FieldKind::Select(access)),
        scopes: Scope::ALL
            .into_iter()
            .filter(|scope| may_give(user, *scope))
            .map(|scope| check("scope", scope.as_str(), scope_text(&t, scope).to_owned()))
            .collect(),
        restaurants: known
            .into_iter()
            .map(|(id, name)| check("restaurant", &id.to_string(), name))
            .collect(),
    })
}

/// What the form asks for.
pub fn parse(sent: &FormData, now: Timestamp) -> Result<NewKey, Fault> {
    let label: Option<Line> = optional(sent, "label")?;
    let checked = |group: &str| -> Vec<String> {
        let prefix = format!("{group}.");
        let names = sent.with_prefix(&prefix).map(|(name, _)| name.to_owned());
        names.collect()
    };
    let scopes = (sent.get("access") == "some").then(|| {
        let names = checked("scope");
        names.iter().filter_map(|name| Scope::named(name)).collect()
    });
    let ids = checked("restaurant");
    let restaurants = if ids.is_empty() {
        RestaurantScope::All
    } else {
        let ids: Result<_, _> = ids.iter().map(|id| id.parse::<RestaurantId>()).collect();
        RestaurantScope::Only(ids.map_err(|_| {
            Fault::invalid(
                "restaurantIds",
                FieldProblem::text("is not a restaurant of this account"),
            )
        })?)
    };
    let texts = sent
        .get("networks")
        .split([',', ' '])
        .filter(|text| !text.is_empty());
    let networks: Result<_, _> = texts.map(str::parse::<Network>).collect();
    let days = DAYS
        .into_iter()
        .find(|days| sent.get("days") == days.to_string())
        .ok_or_else(|| {
            let choices = DAYS.map(|days| days.to_string()).join(", ");
            Fault::invalid("days", FieldProblem::NotOneOf { choices })
        })?;
    let lifetime = Duration::from_secs(u64::from(days) * 24 * 3600);
    Ok(NewKey {
        label: label.map(Line::into_string),
        access: KeyAccess {
            scopes,
            restaurants,
            networks: networks.map_err(|problem| Fault::invalid("networks", FieldProblem::text(problem)))?,
        },
        expires_at: (days > 0).then(|| now.plus(lifetime)),
    })
}
