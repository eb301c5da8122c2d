//! The strip of the board with the state of every store, and the form that pauses them.

use super::store_state::{StateText, code_text};
use crate::app::store_overview::{Progress, RestaurantStores, ShownStore};
use crate::panel::kit::format;
use crate::panel::words::{Lang, StoreWords};
use askama::Template;
use garson_core::platform::Provider;
use garson_core::store_control::DesiredState;
use garson_core::store_status::{ReasonCode, StoreState};
use garson_core::time::{Timestamp, Zone};

/// Restaurants that need attention, and others that are not open, that are shown at most.
const MAX_LINES: usize = 30;
/// So many restaurants that are not open, but need no attention, are shown unfolded.
const UNFOLDED: usize = 3;
/// All restaurants can be paused at once up to this number.
pub const MAX_AT_ONCE: usize = 20;

/// The reasons that staff can give.
pub const REASONS: [ReasonCode; 6] = [
    ReasonCode::KitchenBusy,
    ReasonCode::NoCouriers,
    ReasonCode::MenuUpdate,
    ReasonCode::TechnicalProblem,
    ReasonCode::Closed,
    ReasonCode::Other,
];

/// The states, which the live stream replaces.
#[derive(Template)]
#[template(path = "store_strip.html")]
pub struct StoreStrip {
    t: StoreWords,
    csrf: String,
    back: String,
    /// There are no stores that can be controlled.
    is_empty: bool,
    has_many: bool,
    /// What needs attention, or the one restaurant.
    lines: Vec<Line>,
    /// Restaurants that are not open.
    others: Vec<Line>,
    are_others_folded: bool,
    /// Restaurants beyond those that are shown.
    hidden: usize,
    open_restaurants: usize,
    /// Stores that are not open, in one line, for the live region.
    said: String,
    /// When it was made: an older strip does not replace a newer one.
    now_ms: i64,
    problem: Option<String>,
}

/// A restaurant.
struct Line {
    id: String,
    name: String,
    chips: Vec<Chip>,
    /// Some of its stores are open, and not shown.
    has_open: bool,
    can_open_all: bool,
}

/// A store.
struct Chip {
    key: String,
    name: String,
    text: StateText,
    /// Label of the button that opens it.
    opens: Option<&'static str>,
}

impl Chip {
    fn new(t: &StoreWords, lang: Lang, zone: &Zone, store: &ShownStore, now: Timestamp) -> Self {
        let is_refused = matches!(
            store.desired.as_ref().map(|it| (it.state, &it.progress)),
            Some((DesiredState::Closed | DesiredState::Busy, Progress::Refused(_)))
        );
        Self {
            key: store.provider.to_string(),
            name: format::provider(lang, store.provider),
            text: StateText::new(lang, zone, store, now),
            opens: match store.state {
                StoreState::Busy if store.can_open() => Some(t.end_busy),
                _ if store.can_open() => Some(t.reopen),
                // Asking for what is so already ends the message.
                StoreState::Open if is_refused => Some(t.keep_open),
                _ => None,
            },
        }
    }
}

impl Line {
    fn new(
        t: &StoreWords,
        lang: Lang,
        restaurant: &RestaurantStores,
        is_whole: bool,
        now: Timestamp,
    ) -> Self {
        let zone = Zone::named(&restaurant.timezone).unwrap_or_else(Zone::istanbul);
        let is_shown = |store: &&ShownStore| is_whole || !store.is_plainly_open();
        let shown: Vec<&ShownStore> = restaurant.stores.iter().filter(is_shown).collect();
        Self {
            id: restaurant.id.to_string(),
            name: restaurant.name.clone(),
            can_open_all: shown.iter().filter(|store| store.can_open()).count() > 1,
            has_open: shown.len() < restaurant.stores.len(),
            chips: shown
                .into_iter()
                .map(|store| Chip::new(t, lang, &zone, store, now))
                .collect(),
        }
    }
}

impl StoreStrip {
    pub fn new(lang: Lang, csrf: &str, back: &str, restaurants: &[RestaurantStores], now: Timestamp) -> Self {
        let t = StoreWords::of(lang);
        let has_many = restaurants.len() > 1;
        let mut lines = Vec::new();
        let mut others = Vec::new();
        let mut not_open = 0;
        for it in restaurants {
            let is_open = it.stores.iter().all(ShownStore::is_plainly_open);
            not_open += usize::from(!is_open);
            if has_many && is_open {
                continue;
            }
            let needs_attention = it
                .stores
                .iter()
                .any(|store| store.needs_attention() || store.is_pending());
            let list = if has_many && !needs_attention {
                &mut others
            } else {
                &mut lines
            };
            if list.len() < MAX_LINES {
                list.push(Line::new(&t, lang, it, !has_many, now));
            }
        }
        let shown = lines.len() + others.len();
        Self {
            is_empty: restaurants.is_empty(),
            has_many,
            said: said(&t, &lines, &others, has_many),
            are_others_folded: others.len() > UNFOLDED,
            hidden: if has_many { not_open - shown } else { 0 },
            open_restaurants: restaurants.len() - not_open,
            lines,
            others,
            csrf: csrf.to_owned(),
            back: back.to_owned(),
            now_ms: now.as_millis(),
            problem: None,
            t,
        }
    }

    /// With why the last change was not possible.
    #[must_use]
    pub fn with_problem(mut self, problem: String) -> Self {
        self.problem = Some(problem);
        self
    }
}

/// What is not open, for those who do not see it.
fn said(t: &StoreWords, lines: &[Line], others: &[Line], has_many: bool) -> String {
    const MAX_SAID: usize = 8;
    let mut parts = Vec::new();
    for line in lines.iter().chain(others) {
        for chip in line
            .chips
            .iter()
            .filter(|chip| chip.text.tone != "good" || chip.text.pending.is_some())
        {
            let name = if has_many {
                format!("{}: {}", line.name, chip.name)
            } else {
                chip.name.clone()
            };
            parts.push(chip.text.line(&name));
        }
    }
    if parts.is_empty() {
        return t.all_open.to_owned();
    }
    parts.truncate(MAX_SAID);
    parts.join(". ")
}

/// The form that closes stores for a while, or sets busy mode. It is not replaced while it is being filled in.
#[derive(Template)]
#[template(path = "pause_form.html")]
pub struct PauseForm {
    t: StoreWords,
    csrf: String,
    back: String,
    /// Id and name.
    restaurants: Vec<(String, String)>,
    has_all: bool,
    /// Key and name.
    platforms: Vec<(String, String)>,
    reasons: Vec<(&'static str, &'static str)>,
    busy_minutes: Vec<u32>,
    /// The platforms that have busy mode.
    busy_platforms: String,
    /// On the page of a restaurant there is room for more.
    is_page: bool,
}

impl PauseForm {
    /// None where nothing can be paused.
    pub fn new(
        lang: Lang,
        csrf: &str,
        back: &str,
        restaurants: &[RestaurantStores],
        is_page: bool,
    ) -> Option<Self> {
        if restaurants.is_empty() {
            return None;
        }
        let mut providers: Vec<Provider> = Vec::new();
        let mut busy: Vec<Provider> = Vec::new();
        let mut busy_minutes: Vec<u32> = Vec::new();
        for store in restaurants.iter().flat_map(|it| &it.stores) {
            if !providers.contains(&store.provider) {
                providers.push(store.provider);
                busy_minutes.extend(store.support.busy_minutes);
                if !store.support.busy_minutes.is_empty() {
                    busy.push(store.provider);
                }
            }
        }
        busy_minutes.sort_unstable();
        busy_minutes.dedup();
        providers.sort_unstable();
        let name = |provider: &Provider| format::provider(lang, *provider);
        Some(Self {
            t: StoreWords::of(lang),
            csrf: csrf.to_owned(),
            back: back.to_owned(),
            has_all: (2..=MAX_AT_ONCE).contains(&restaurants.len()),
            restaurants: restaurants
                .iter()
                .map(|it| (it.id.to_string(), it.name.clone()))
                .collect(),
            platforms: providers.iter().map(|it| (it.to_string(), name(it))).collect(),
            reasons: REASONS
                .iter()
                .map(|code| (code.as_str(), code_text(lang, *code)))
                .collect(),
            busy_minutes,
            busy_platforms: busy.iter().map(name).collect::<Vec<_>>().join(", "),
            is_page,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::id::RestaurantId;
    use garson_core::store_control::StoreProblem;
    use garson_core::store_status::StoreActor;

    fn store(key: &str, state: StoreState) -> ShownStore {
        let platform = garson_platforms::find(key).unwrap();
        ShownStore {
            state,
            ..ShownStore::new(platform.provider(), platform.capability().store.unwrap(), None)
        }
    }

    fn restaurant(number: u128, stores: Vec<ShownStore>) -> RestaurantStores {
        RestaurantStores {
            id: RestaurantId(uuid::Uuid::from_u128(number)),
            name: format!("Şube <{number}>"),
            timezone: "Europe/Istanbul".to_owned(),
            stores,
        }
    }

    fn render(restaurants: &[RestaurantStores]) -> String {
        let now = Timestamp::from_millis(1_767_225_600_000);
        let strip = StoreStrip::new(Lang::Tr, "token", "/", restaurants, now);
        strip.render().unwrap()
    }

    fn open(number: u128) -> RestaurantStores {
        restaurant(
            number,
            vec![
                store("getir", StoreState::Open),
                store("migros", StoreState::Open),
            ],
        )
    }

    fn closed(number: u128) -> RestaurantStores {
        restaurant(
            number,
            vec![
                store("getir", StoreState::Closed),
                store("migros", StoreState::Open),
            ],
        )
    }

    #[test]
    fn one_restaurant_shows_every_platform() {
        let html = render(&[open(1)]);
        assert!(html.contains("data-store=\"getir\"") && html.contains("data-store=\"migros\""));
        assert!(!html.contains("Şube") && !html.contains("<form"), "{html}");
        assert!(html.contains("data-said=\"Tümü açık\""), "{html}");
    }

    #[test]
    fn many_restaurants_show_only_those_that_are_not_open() {
        let html = render(&[open(1), open(2)]);
        assert!(
            html.contains("Tümü açık") && !html.contains("data-store"),
            "{html}"
        );
        let html = render(&[open(1), closed(2)]);
        assert!(
            html.contains("&#60;2&#62;") && !html.contains("&#60;1&#62;"),
            "{html}"
        );
        assert!(
            html.contains("1 restoran açık") && html.contains("diğerleri açık"),
            "{html}"
        );
        assert!(!html.contains("data-store=\"migros\""), "{html}");
    }

    #[test]
    fn thousand_closed_restaurants_are_folded_and_bounded_and_problems_come_first() {
        let mut all: Vec<RestaurantStores> = (1..=1_000).map(closed).collect();
        let shown = all.last_mut().unwrap();
        shown.stores[0].by = Some(StoreActor::Platform);
        shown.stores[0].problem = Some(StoreProblem::ClosedByPlatform);
        let html = render(&all);
        assert!(html.len() < 60_000, "{}", html.len());
        let (first, folded) = html.split_once("<details").unwrap();
        assert!(
            first.contains("&#60;1000&#62;") && first.contains("Yeniden aç"),
            "{first}"
        );
        assert!(
            folded.contains("30 restoran açık değil") && folded.contains(">969<"),
            "{folded}"
        );
    }

    #[test]
    fn form_offers_all_platforms_once_and_busy_mode_where_it_is() {
        let form = PauseForm::new(Lang::Tr, "token", "/", &[open(1), closed(2)], false).unwrap();
        let html = form.render().unwrap();
        assert_eq!(html.matches("value=\"getir\"").count(), 1);
        assert!(
            html.contains("value=\"all\"") && html.contains("busy:30"),
            "{html}"
        );
        let only = [restaurant(1, vec![store("trendyol", StoreState::Open)])];
        let html = PauseForm::new(Lang::Tr, "token", "/", &only, false)
            .unwrap()
            .render()
            .unwrap();
        assert!(
            !html.contains("busy:") && !html.contains("<select id=\"pause-restaurant\""),
            "{html}"
        );
        assert!(PauseForm::new(Lang::Tr, "token", "/", &[], false).is_none());
    }
}
