//! The form of a user: role and restaurants.

use crate::flow::Fault;
use crate::panel::components::role_name::{role_name, role_text};
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::words::UserWords;
use garson_core::field_problem::FieldProblem;
use garson_core::id::RestaurantId;
use garson_core::permission::RestaurantScope;
use garson_core::role::Role;
use std::collections::BTreeSet;

/// What the form shows of role and restaurants.
pub struct RoleForm {
    pub role: Field,
    pub scope: Field,
    pub restaurants: Vec<RestaurantTick>,
    pub restaurants_error: String,
    /// Each role and what it may do.
    pub roles: Vec<(&'static str, &'static str)>,
}

pub struct RestaurantTick {
    pub id: RestaurantId,
    pub name: String,
    pub is_ticked: bool,
}

impl RoleForm {
    pub fn new(
        t: &UserWords,
        role: Role,
        scope: &RestaurantScope,
        names: Vec<(RestaurantId, String)>,
    ) -> Self {
        let choices = Role::ALL.map(|it| Choice::new(it.as_str(), role_name(t, it), it == role));
        let scopes = vec![
            Choice::new("all", t.all_restaurants, scope.is_all()),
            Choice::new("named", t.named_restaurants, !scope.is_all()),
        ];
        Self {
            role: Field::new("role", t.role, FieldKind::Select(choices.into())).hint(t.role_hint),
            scope: Field::new("scope", t.restaurants, FieldKind::Select(scopes)).hint(t.restaurants_hint),
            restaurants: names
                .into_iter()
                .map(|(id, name)| RestaurantTick {
                    is_ticked: !scope.is_all() && scope.has(id),
                    id,
                    name,
                })
                .collect(),
            restaurants_error: String::new(),
            roles: Role::ALL.map(|it| (role_name(t, it), role_text(t, it))).into(),
        }
    }
}

/// The role of a form.
pub fn role(fields: &FormData) -> Result<Role, Fault> {
    Role::named(fields.get("role")).ok_or_else(|| {
        let choices = Role::ALL.map(Role::as_str).join(", ");
        Fault::invalid("role", FieldProblem::NotOneOf { choices })
    })
}

/// The restaurants of a form. What is no id is left out; which of them exist is checked when it is stored.
pub fn scope(fields: &FormData) -> RestaurantScope {
    if fields.get("scope") != "named" {
        return RestaurantScope::All;
    }
    let ids: BTreeSet<RestaurantId> = fields
        .all("restaurant")
        .filter_map(|id| id.parse().ok())
        .collect();
    RestaurantScope::Only(ids)
}
