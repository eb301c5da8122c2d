//! The filter of reports and payments: a restaurant and a range of days.

use super::day_range::DayRange;
use super::restaurant_header::chosen_restaurant;
use crate::flow::admin::restaurants;
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Choice;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::paging;
use crate::panel::words::ReportWords;
use garson_core::id::RestaurantId;
use std::collections::HashMap;

/// The orders of one restaurant or all, of some days or all.
#[derive(Clone, Default)]
pub struct ReportFilter {
    pub restaurant: Option<RestaurantId>,
    pub days: DayRange,
}

impl ReportFilter {
    /// A restaurant that is none is an error: the orders of all could go unnoticed.
    pub fn read(user: &CurrentUser, params: &FormData) -> Result<Self, PanelError> {
        Ok(Self {
            restaurant: chosen_restaurant(user, params)?,
            days: DayRange::read(params),
        })
    }

    /// A path with this filter in its query string.
    pub fn url(&self, path: &str) -> String {
        let id = self.restaurant_text();
        paging::url(path, &self.params(&id))
    }

    pub fn params<'a>(&'a self, restaurant: &'a str) -> [(&'a str, &'a str); 3] {
        [
            ("restaurant", restaurant),
            ("from", self.days.from.as_str()),
            ("to", self.days.to.as_str()),
        ]
    }

    pub fn restaurant_text(&self) -> String {
        self.restaurant.map_or_else(String::new, |id| id.to_string())
    }
}

pub type RestaurantNames = HashMap<RestaurantId, String>;

/// The options of a restaurant filter, and the names of all restaurants.
pub async fn restaurant_choices(
    api: &HttpState,
    user: &CurrentUser,
    chosen: Option<RestaurantId>,
) -> Result<(Vec<Choice>, RestaurantNames), PanelError> {
    let names = restaurants::names(&api.app, user.account.id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let names = user.own_names(names);
    let all = ReportWords::of(user.lang).all_restaurants;
    let mut choices = Vec::new();
    if user.scope().is_all() {
        choices.push(Choice::new("", all, chosen.is_none()));
    }
    choices.extend(
        names
            .iter()
            .map(|(id, name)| Choice::new(id.to_string(), name, chosen == Some(*id))),
    );
    Ok((choices, names.into_iter().collect()))
}
