//! The layout around every page: menu, language switch, sign-out, flash message. Also formats values for templates.

use super::assets;
use super::attention::Banner;
use super::flash::Flash;
use super::format;
use super::names;
use super::navigation::{self, NavItem, NavLink};
use super::time_ago::TimeAgo;
use crate::panel::words::{ActionWords, AlarmWords, ComponentWords, Lang, LayoutWords};
use axum::response::{Html, IntoResponse, Response};
use garson_core::money::{Currency, Minor};
use garson_core::permission::Permission;
use garson_core::platform::Provider;
use garson_core::time::{Timestamp, Zone};
use garson_core::user::User;
use http::{StatusCode, header};

pub struct Layout {
    pub t: LayoutWords,
    /// The texts of `components.html`.
    pub c: ComponentWords,
    pub alarm: AlarmWords,
    pub actions: ActionWords,
    /// What of the account needs attention.
    pub banner: Option<Banner>,
    pub lang: Lang,
    /// The time zone of all timestamps on the page.
    pub zone: Zone,
    pub nav_item: NavItem,
    /// The name of the signed-in account.
    pub account: Option<String>,
    /// The signed-in user.
    pub person: Option<User>,
    pub csrf: String,
    /// The path and query of the page, to return to.
    pub here: String,
    pub flash: Option<Flash>,
    /// The time of the service: the clock of the device may be wrong.
    pub now: Option<Timestamp>,
    pub style: &'static str,
    pub script: &'static str,
}

impl Layout {
    /// For a page without forms and without a session.
    pub fn bare(lang: Lang) -> Self {
        Self {
            t: LayoutWords::of(lang),
            c: ComponentWords::of(lang),
            alarm: AlarmWords::of(lang),
            actions: ActionWords::of(lang),
            banner: None,
            lang,
            zone: Zone::istanbul(),
            nav_item: NavItem::None,
            account: None,
            person: None,
            csrf: String::new(),
            here: "/".to_owned(),
            flash: None,
            now: None,
            style: assets::style(),
            script: assets::script(),
        }
    }

    /// Shows times in the zone of the restaurant that the page is about.
    #[must_use]
    pub fn in_zone(mut self, zone: Zone) -> Self {
        self.zone = zone;
        self
    }

    pub fn shift_menu(&self) -> Vec<NavLink> {
        navigation::shift_menu(&self.t, self.nav_item, |permission| self.may(permission))
    }

    pub fn developer_menu(&self) -> Vec<NavLink> {
        navigation::developer_menu(&self.t, self.nav_item, |permission| self.may(permission))
    }

    pub fn account_menu(&self) -> Vec<NavLink> {
        navigation::account_menu(&self.t, self.nav_item, |permission| self.may(permission))
    }

    /// Is the page in the menu of the account?
    pub fn is_account_page(&self) -> bool {
        self.nav_item.is_of_account()
    }

    /// May the signed-in user do it?
    pub fn may(&self, permission: Permission) -> bool {
        self.person.as_ref().is_some_and(|person| person.may(permission))
    }

    /// What the signed-in user may do, as the style sheet of roles knows it; nothing on pages without a user, and for those who may
    /// do all of it.
    pub fn allowed(&self) -> Option<String> {
        self.person.as_ref()?;
        let names = [
            ("act", Permission::ActOnOrders),
            ("stores", Permission::ControlStores),
            ("reported", Permission::MarkReported),
            ("restaurants", Permission::ChangeRestaurants),
            ("platforms", Permission::ConnectPlatforms),
            ("add", Permission::ManageRestaurants),
            ("businesses", Permission::ReadBusinesses),
            ("webhook", Permission::ChangeWebhook),
        ];
        let allowed = names.into_iter().filter(|(_, permission)| self.may(*permission));
        let allowed: Vec<&str> = allowed.map(|(name, _)| name).collect();
        (allowed.len() < names.len()).then(|| allowed.join(" "))
    }

    /// The path of the style sheet of roles.
    pub fn roles_style(&self) -> &'static str {
        assets::roles_style()
    }

    /// Is the signed-in user responsible for all restaurants of the account?
    pub fn sees_all_restaurants(&self) -> bool {
        self.person
            .as_ref()
            .is_none_or(|person| person.restaurants.is_all())
    }

    /// The name of the signed-in user.
    pub fn person_name(&self) -> &str {
        self.person.as_ref().map_or("", User::shown_name)
    }

    /// `15.11.2026 14:05`
    pub fn timestamp(&self, at: &Timestamp) -> String {
        format::timestamp(self.lang, &self.zone, *at)
    }

    pub fn timestamp_or(&self, at: &Option<Timestamp>, otherwise: &str) -> String {
        at.as_ref()
            .map_or_else(|| otherwise.to_owned(), |at| self.timestamp(at))
    }

    /// `2 dk önce` with script.
    pub fn time_ago(&self, at: &Timestamp) -> TimeAgo {
        TimeAgo::new(self.lang, &self.zone, *at)
    }

    pub fn time_ago_or(&self, at: &Option<Timestamp>, otherwise: &'static str) -> TimeAgo {
        at.as_ref()
            .map_or(TimeAgo::Never(otherwise), |at| self.time_ago(at))
    }

    /// `1.234,50 ₺`
    pub fn money(&self, amount: &Minor, currency: &Currency) -> String {
        format::money(self.lang, *amount, *currency)
    }

    /// The name of a first package or key, which the service has given.
    pub fn given_name<'a>(&self, name: &'a str) -> &'a str {
        names::given_name(self.lang, name)
    }

    pub fn provider(&self, provider: &Provider) -> String {
        format::provider(self.lang, *provider)
    }
}

/// Marks a response whose page has shown the flash message, so that its cookie can be removed.
#[derive(Clone, Copy)]
pub struct FlashShown;

/// Renders a whole page.
pub fn page(template: &impl askama::Template) -> Response {
    let mut response = fragment(template);
    response.extensions_mut().insert(FlashShown);
    response
}

/// Renders a part of a page, as the script requests it.
pub fn fragment(template: &impl askama::Template) -> Response {
    match template.render() {
        Ok(text) => ([(header::VARY, "cookie")], Html(text)).into_response(),
        Err(error) => {
            tracing::error!(%error, "could not render a page");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
