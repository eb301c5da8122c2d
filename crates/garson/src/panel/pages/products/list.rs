//! The list of products, with search and filters.

use crate::flow::Fault;
use crate::flow::admin::restaurants;
use crate::flow::products::availability::tomorrows_opening;
use crate::flow::products::list;
use crate::flow::products::list::ListRequest;
use crate::http::state::HttpState;
use crate::panel::components::product_row::{ProductRow, RowOptions};
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, products_layout, restaurant_id};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Choice;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, fragment, page};
use crate::panel::kit::paging::url;
use crate::panel::pages::catalogs;
use crate::panel::words::ProductWords;
use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use garson_core::id::RestaurantId;
use std::sync::Arc;

/// Products on a page: its markup stays below 100 kB.
const LIMIT: usize = 35;
/// A longer search says nothing more.
const MAX_SEARCH: usize = 100;

#[derive(Template)]
#[template(path = "products.html")]
struct ProductsPage {
    layout: Layout,
    t: ProductWords,
    header: RestaurantHeader,
    search: String,
    states: Vec<Choice>,
    kinds: Vec<Choice>,
    list: ProductList,
    /// The page on which a menu can be sent, where that is possible.
    catalog: Option<String>,
}

/// The part of the page that a search replaces.
#[derive(Template)]
#[template(path = "products_list.html")]
struct ProductList {
    layout: Layout,
    t: ProductWords,
    restaurant: RestaurantId,
    rows: Vec<ProductRow>,
    is_filtered: bool,
    has_opening: bool,
    /// Links to the first page and the next one.
    first: Option<String>,
    next: Option<String>,
}

impl ProductList {
    /// The list without filters.
    fn all(&self) -> String {
        Tab::Products.path(self.restaurant)
    }
}

/// What is listed, as the query says.
struct Filter {
    search: String,
    state: &'static str,
    kind: &'static str,
    after: String,
}

impl Filter {
    fn read(params: &FormData) -> Self {
        let one_of = |name: &str, known: [&'static str; 2]| {
            let given = params.get(name);
            known.into_iter().find(|it| *it == given).unwrap_or_default()
        };
        Self {
            search: params.get("q").chars().take(MAX_SEARCH).collect(),
            state: one_of("state", ["off", "on"]),
            kind: one_of("kind", ["product", "option"]),
            after: params.get("after").to_owned(),
        }
    }

    fn request(&self) -> ListRequest {
        ListRequest {
            search: Some(self.search.clone()).filter(|text| !text.is_empty()),
            is_available: (!self.state.is_empty()).then_some(self.state == "on"),
            is_option: (!self.kind.is_empty()).then_some(self.kind == "option"),
            // A link that is not ours shows the first page.
            after: self.after.parse().ok(),
            limit: LIMIT,
            with_suggestions: false,
        }
    }

    fn is_any(&self) -> bool {
        !self.search.is_empty() || !self.state.is_empty() || !self.kind.is_empty()
    }

    fn path(&self, restaurant: RestaurantId, after: &str) -> String {
        let fields = [
            ("q", self.search.as_str()),
            ("state", self.state),
            ("kind", self.kind),
            ("after", after),
        ];
        url(&Tab::Products.path(restaurant), &fields)
    }
}

pub async fn list_products(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let id = restaurant_id(&user, &id)?;
    let (app, account) = (&api.app, user.account.id);
    let restaurant = restaurants::get(app, account, id).await.map_err(fail)?;
    let filter = Filter::read(&FormData::parse(query.unwrap_or_default().as_bytes()));
    let mut request = filter.request();
    let found = match list::list(app, account, id, request.clone()).await {
        // The product after which the page begins is gone.
        Err(Fault::UnknownPlace { .. }) => {
            request.after = None;
            list::list(app, account, id, request).await
        }
        found => found,
    };
    let found = found.map_err(fail)?;
    let opening = tomorrows_opening(app, account, id).await.map_err(fail)?;
    let options = RowOptions {
        has_box: true,
        has_opening: opening.is_some(),
    };
    let (t, layout) = (ProductWords::of(user.lang), products_layout(&user, &restaurant));
    let row = |listed| ProductRow::new(&layout, id, listed, options, app.now());
    let part = ProductList {
        rows: found.products.iter().map(row).collect(),
        layout: products_layout(&user, &restaurant),
        t,
        restaurant: id,
        is_filtered: filter.is_any(),
        has_opening: options.has_opening,
        first: (!filter.after.is_empty()).then(|| filter.path(id, "")),
        next: found.next.map(|after| filter.path(id, &after.to_string())),
    };
    if user.wants_fragment {
        return Ok(fragment(&part));
    }
    let choice = |value: &'static str, name: &str, chosen: &str| Choice::new(value, name, value == chosen);
    Ok(page(&ProductsPage {
        header: RestaurantHeader::new(&user, &restaurant, Tab::Products),
        layout,
        states: vec![
            choice("", t.every_state, filter.state),
            choice("off", t.only_off, filter.state),
            choice("on", t.only_on, filter.state),
        ],
        kinds: vec![
            choice("", t.every_kind, filter.kind),
            choice("product", t.only_products, filter.kind),
            choice("option", t.only_options, filter.kind),
        ],
        search: filter.search,
        t,
        list: part,
        catalog: catalogs::link(&api, &restaurant),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_is_read_and_written() {
        let read = |query: &str| Filter::read(&FormData::parse(query.as_bytes()));
        let filter = read("q=+%C5%9Fi%C5%9F+&state=off&kind=option");
        assert!(filter.is_any());
        let request = filter.request();
        assert_eq!(request.search.as_deref(), Some("şiş"));
        assert_eq!(
            (request.is_available, request.is_option),
            (Some(false), Some(true))
        );
        let wrong = read("state=x&kind=y&after=z");
        assert!(!wrong.is_any());
        assert_eq!(wrong.request().after, None);
    }
}
