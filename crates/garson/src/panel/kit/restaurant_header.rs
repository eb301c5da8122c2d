//! What stands above every page of one restaurant: its name, and the ways between them.

use super::error::PanelError;
use super::fields::Fields;
use super::visitor::Visitor;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use crate::panel::words::RestaurantWords;
use garson_core::id::RestaurantId;
use garson_core::restaurant::Restaurant;

/// The pages of a restaurant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Details,
    Integrations,
    Packages,
    Payments,
    Menu,
}

impl Tab {
    const ALL: [Self; 5] = [
        Self::Details,
        Self::Integrations,
        Self::Packages,
        Self::Payments,
        Self::Menu,
    ];

    fn sign(self, t: &RestaurantWords) -> (&'static str, &'static str) {
        match self {
            Self::Details => ("", t.details),
            Self::Integrations => ("/integrations", t.integrations),
            Self::Packages => ("/packages", t.packages),
            Self::Payments => ("/payments", t.payments),
            Self::Menu => ("/menu", t.menu),
        }
    }

    /// Where it is.
    pub fn path(self, id: RestaurantId) -> String {
        let (path, _) = self.sign(&RestaurantWords::of(super::lang::Lang::Tr));
        format!("/restaurants/{id}{path}")
    }
}

/// A way to another page of the restaurant.
pub struct TabLink {
    pub href: String,
    pub name: &'static str,
    pub is_here: bool,
}

/// A restaurant, as all of its pages show it; `sheets.html` draws it.
pub struct About {
    pub id: RestaurantId,
    pub name: String,
    pub t: RestaurantWords,
    here: Tab,
}

impl About {
    pub fn new(visitor: &Visitor, restaurant: &Restaurant, here: Tab) -> Self {
        Self {
            id: restaurant.id,
            name: restaurant.fields.name.clone(),
            t: RestaurantWords::of(visitor.lang),
            here,
        }
    }

    pub fn tabs(&self) -> Vec<TabLink> {
        let link = |tab: Tab| TabLink {
            href: tab.path(self.id),
            name: tab.sign(&self.t).1,
            is_here: tab == self.here,
        };
        Tab::ALL.into_iter().map(link).collect()
    }

    /// Where its platforms are connected.
    pub fn integrations(&self) -> String {
        Tab::Integrations.path(self.id)
    }

    /// The name of the page itself.
    pub fn title(&self) -> &'static str {
        self.here.sign(&self.t).1
    }
}

/// The restaurant that a path names; one that is no id at all is as unknown as any.
pub fn restaurant_id(visitor: &Visitor, text: &str) -> Result<RestaurantId, PanelError> {
    text.parse()
        .map_err(|_| visitor.fail(Fault::not_found(Thing::Restaurant, text)))
}

/// The restaurant that an address or a form asks for; none means all.
pub fn chosen_restaurant(visitor: &Visitor, asked: &Fields) -> Result<Option<RestaurantId>, PanelError> {
    let given = asked.given("restaurant");
    given.map(|id| restaurant_id(visitor, &id)).transpose()
}
