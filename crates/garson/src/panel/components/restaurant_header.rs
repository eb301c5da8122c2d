//! The header of a restaurant's pages: its name and the tabs.

use crate::flow::Fault;
use crate::flow::fault::Thing;
use crate::panel::kit::assets;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::Layout;
use crate::panel::kit::navigation::NavItem;
use crate::panel::words::RestaurantWords;
use garson_core::id::RestaurantId;
use garson_core::permission::RestaurantScope;
use garson_core::restaurant::{Config, Restaurant};
use garson_core::time::Zone;

/// The pages of a restaurant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Details,
    Integrations,
    Packages,
    Payments,
    Menu,
    Products,
    Escalation,
    Store,
}

impl Tab {
    const ALL: [Self; 8] = [
        Self::Details,
        Self::Store,
        Self::Integrations,
        Self::Packages,
        Self::Payments,
        Self::Menu,
        Self::Products,
        Self::Escalation,
    ];

    fn name(self, t: &RestaurantWords) -> &'static str {
        match self {
            Self::Details => t.details,
            Self::Integrations => t.integrations,
            Self::Packages => t.packages,
            Self::Payments => t.payments,
            Self::Menu => t.menu,
            Self::Products => t.products,
            Self::Escalation => t.escalation,
            Self::Store => t.store,
        }
    }

    pub fn path(self, id: RestaurantId) -> String {
        let suffix = match self {
            Self::Details => "",
            Self::Integrations => "/integrations",
            Self::Packages => "/packages",
            Self::Payments => "/payments",
            Self::Menu => "/menu",
            Self::Products => "/products",
            Self::Escalation => "/escalation",
            Self::Store => "/store",
        };
        format!("/restaurants/{id}{suffix}")
    }
}

pub struct TabLink {
    pub href: String,
    pub name: &'static str,
    pub is_current: bool,
}

pub struct RestaurantHeader {
    pub id: RestaurantId,
    pub name: String,
    pub t: RestaurantWords,
    current: Tab,
}

impl RestaurantHeader {
    pub fn new(user: &CurrentUser, restaurant: &Restaurant, current: Tab) -> Self {
        Self {
            id: restaurant.id,
            name: restaurant.fields.name.clone(),
            t: RestaurantWords::of(user.lang),
            current,
        }
    }

    pub fn tabs(&self) -> Vec<TabLink> {
        let link = |tab: Tab| TabLink {
            href: tab.path(self.id),
            name: tab.name(&self.t),
            is_current: tab == self.current,
        };
        Tab::ALL.into_iter().map(link).collect()
    }

    pub fn integrations_path(&self) -> String {
        Tab::Integrations.path(self.id)
    }

    /// The name of the current tab.
    pub fn title(&self) -> &'static str {
        self.current.name(&self.t)
    }
}

/// The time zone of a restaurant.
pub fn zone_of(restaurant: &Restaurant) -> Zone {
    Config::read(restaurant.fields.config.as_deref())
        .unwrap_or_default()
        .zone()
}

/// The layout of a page about one restaurant: times are in its zone.
pub fn restaurant_layout(user: &CurrentUser, restaurant: &Restaurant) -> Layout {
    user.layout(NavItem::Restaurants).in_zone(zone_of(restaurant))
}

/// The same for a page with rows of products.
pub fn products_layout(user: &CurrentUser, restaurant: &Restaurant) -> Layout {
    let (style, script) = assets::product_pages();
    Layout {
        style,
        script,
        ..restaurant_layout(user, restaurant)
    }
}

/// The restaurant of a path or a form. A malformed id, or that of a restaurant for which the user is not responsible, is answered
/// like an unknown one.
pub fn restaurant_id(user: &CurrentUser, text: &str) -> Result<RestaurantId, PanelError> {
    let id = text.parse().ok().filter(|id| user.scope().has(*id));
    id.ok_or_else(|| user.fail(Fault::not_found(Thing::Restaurant, text)))
}

/// The restaurant filter of a query string or form; `None` means all. A user of named restaurants sees one at a time, at first the
/// oldest of them.
pub fn chosen_restaurant(user: &CurrentUser, params: &FormData) -> Result<Option<RestaurantId>, PanelError> {
    match params.non_empty("restaurant") {
        Some(id) => restaurant_id(user, &id).map(Some),
        None => Ok(only_restaurant(user)),
    }
}

/// What a user of named restaurants sees without choosing; `None` for everybody else.
pub fn only_restaurant(user: &CurrentUser) -> Option<RestaurantId> {
    match user.scope() {
        RestaurantScope::All => None,
        // Without any restaurant, one that does not exist.
        RestaurantScope::Only(ids) => Some(ids.first().copied().unwrap_or(RestaurantId(uuid::Uuid::nil()))),
    }
}
