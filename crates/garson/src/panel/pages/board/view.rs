//! What a board shows: filters and density, from the query or else as this device remembers them.

use crate::flow::read::board::{Board, Filter, Part};
use crate::http::cursor::Cursor;
use crate::panel::components::restaurant_header::{chosen_restaurant, only_restaurant};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Choice;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::https::is_https;
use crate::panel::kit::{cookies, format};
use crate::panel::words::BoardToolWords;
use axum::response::{IntoResponse, Redirect, Response};
use garson_core::id::{OrderId, RestaurantId};
use garson_core::platform::Provider;
use http::{HeaderMap, header};
use std::fmt::Write as _;

const YEAR_SECONDS: u32 = 365 * 24 * 60 * 60;

/// The pages that show cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardPlace {
    Board,
    Kitchen,
}

impl BoardPlace {
    pub fn path(self) -> &'static str {
        match self {
            Self::Board => "/",
            Self::Kitchen => "/kitchen",
        }
    }

    fn part(self) -> Part {
        match self {
            Self::Board => Part::All,
            Self::Kitchen => Part::Kitchen,
        }
    }

    /// As the stream's query names it.
    pub fn from_name(name: &str) -> Self {
        match name {
            "kitchen" => Self::Kitchen,
            _ => Self::Board,
        }
    }

    /// The page that a form returns to.
    pub fn of_path(path: &str) -> Self {
        let path = path.split('?').next().unwrap_or_default();
        if path == Self::Kitchen.path() {
            Self::Kitchen
        } else {
            Self::Board
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Density {
    #[default]
    Compact,
    Large,
}

impl Density {
    pub fn name(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Large => "large",
        }
    }

    fn from_name(name: &str) -> Self {
        match name {
            "large" => Self::Large,
            _ => Self::Compact,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardView {
    pub place: BoardPlace,
    pub filter: Filter,
    pub density: Density,
}

/// The filter of a query string. A restaurant that does not exist is an error; an unknown platform means all.
pub fn chosen_filter(user: &CurrentUser, params: &FormData, place: BoardPlace) -> Result<Filter, PanelError> {
    Ok(Filter {
        restaurant: chosen_restaurant(user, params)?,
        provider: known_provider(params.get("platform")),
        part: place.part(),
    })
}

fn known_provider(key: &str) -> Option<Provider> {
    garson_platforms::find(key).map(|platform| platform.provider())
}

/// What the query asks for, or else what this device remembers. A remembered restaurant that is gone is left out.
pub fn chosen_view(
    user: &CurrentUser,
    headers: &HeaderMap,
    params: &FormData,
    names: &[(RestaurantId, String)],
    place: BoardPlace,
) -> Result<BoardView, PanelError> {
    let kept = cookies::get(headers, cookies::BOARD).unwrap_or_default();
    let mut kept = kept.split('.');
    let mut next = || kept.next().unwrap_or_default();
    let (restaurant, provider, density) = (next(), next(), next());
    let has = |name: &'static str| params.all(name).next().is_some();
    let filter = if has("restaurant") || has("platform") {
        chosen_filter(user, params, place)?
    } else {
        let restaurant = restaurant.parse().ok();
        Filter {
            restaurant: restaurant
                .filter(|id| names.iter().any(|(known, _)| known == id))
                .or_else(|| only_restaurant(user)),
            provider: known_provider(provider),
            part: place.part(),
        }
    };
    let density = if has("density") {
        params.get("density")
    } else {
        density
    };
    Ok(BoardView {
        place,
        filter,
        density: Density::from_name(density),
    })
}

impl BoardView {
    /// If the form asks for it, remembers the view on this device and redirects to its address.
    pub fn remembered(&self, headers: &HeaderMap, params: &FormData) -> Option<Response> {
        params.non_empty("keep")?;
        let restaurant = self.filter.restaurant.map(|id| id.to_string());
        let provider = self.filter.provider.map(|it| it.to_string());
        let value = [
            restaurant.as_deref().unwrap_or_default(),
            provider.as_deref().unwrap_or_default(),
            self.density.name(),
        ]
        .join(".");
        let cookie = cookies::set(is_https(headers), cookies::BOARD, &value, YEAR_SECONDS);
        let to = Redirect::to(&path(self.place, self.filter));
        Some(([(header::SET_COOKIE, cookie)], to).into_response())
    }
}

fn query(filter: Filter) -> String {
    let mut text = String::new();
    // Ignored: writing to a String does not fail.
    if let Some(id) = filter.restaurant {
        let _ = write!(text, "&restaurant={id}");
    }
    if let Some(provider) = filter.provider {
        let _ = write!(text, "&platform={provider}");
    }
    text
}

/// The address of a board.
pub fn path(place: BoardPlace, filter: Filter) -> String {
    let query = query(filter);
    match query.strip_prefix('&') {
        Some(query) => format!("{}?{query}", place.path()),
        None => place.path().to_owned(),
    }
}

/// The address of the stream that continues a board.
pub fn stream_path(place: BoardPlace, filter: Filter, board: &Board) -> String {
    let mut text = format!("/board/stream?after={}{}", Cursor(board.place), query(filter));
    if place == BoardPlace::Kitchen {
        text.push_str("&place=kitchen");
    }
    // The stream sends these again, in case that they have changed since.
    let unsettled = board.unsettled.union(&board.noticed);
    let unsettled: Vec<String> = unsettled.map(OrderId::to_string).collect();
    if !unsettled.is_empty() {
        // Ignored: writing to a String does not fail.
        let _ = write!(text, "&unsettled={}", unsettled.join(","));
    }
    text
}

/// The filters as a form.
pub struct FilterForm {
    pub action: &'static str,
    pub restaurants: Vec<Choice>,
    /// All restaurants can be shown together.
    pub has_all: bool,
    pub platforms: Vec<Choice>,
    pub densities: Vec<Choice>,
    pub density: &'static str,
    /// The id of the chosen restaurant; empty for all.
    pub restaurant: String,
    /// All cards belong to one restaurant, so it is not named.
    pub has_one_restaurant: bool,
    pub is_filtered: bool,
    /// The same filter on the other page.
    pub other_page: String,
}

impl FilterForm {
    pub fn new(user: &CurrentUser, view: &BoardView, names: Vec<(RestaurantId, String)>) -> Self {
        let (filter, w) = (view.filter, BoardToolWords::of(user.lang));
        let platforms = garson_platforms::all().iter().map(|platform| {
            let provider = platform.provider();
            let name = format::provider(user.lang, provider);
            Choice::new(provider.to_string(), name, filter.provider == Some(provider))
        });
        let densities = [(Density::Compact, w.compact), (Density::Large, w.large)];
        let other_place = match view.place {
            BoardPlace::Board => BoardPlace::Kitchen,
            BoardPlace::Kitchen => BoardPlace::Board,
        };
        Self {
            action: view.place.path(),
            has_one_restaurant: names.len() < 2 || filter.restaurant.is_some(),
            has_all: user.scope().is_all(),
            restaurants: names
                .into_iter()
                .map(|(id, name)| Choice::new(id.to_string(), name, filter.restaurant == Some(id)))
                .collect(),
            platforms: platforms.collect(),
            densities: densities
                .into_iter()
                .map(|(density, name)| Choice::new(density.name(), name, view.density == density))
                .collect(),
            density: view.density.name(),
            restaurant: filter.restaurant.map_or_else(String::new, |id| id.to_string()),
            is_filtered: filter.restaurant.is_some() || filter.provider.is_some(),
            other_page: path(other_place, filter),
        }
    }
}
