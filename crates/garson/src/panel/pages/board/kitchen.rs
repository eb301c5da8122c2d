//! The kitchen screen: the orders that are being prepared, in large type, with one button each.

use super::view::{BoardPlace, FilterForm, chosen_view, path, stream_path};
use crate::flow::admin::restaurants;
use crate::flow::read::board;
use crate::http::state::HttpState;
use crate::panel::components::kitchen_card::KitchenCard;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::words::{BoardToolWords, BoardWords};
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use http::HeaderMap;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "kitchen.html")]
struct KitchenPage {
    layout: Layout,
    t: BoardWords,
    w: BoardToolWords,
    cards: Vec<KitchenCard>,
    form: FilterForm,
    stream: String,
    now_ms: i64,
    has_more: bool,
}

pub async fn show_kitchen(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let account = user.account.id;
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let names = user.own_names(restaurants::names(&api.app, account).await.map_err(fail)?);
    let view = chosen_view(&user, &headers, &params, &names, BoardPlace::Kitchen)?;
    if let Some(redirect) = view.remembered(&headers, &params) {
        return Ok(redirect);
    }
    let found = board::board(&api.app, account, view.filter).await.map_err(fail)?;
    let now = api.app.now();
    let stream = stream_path(BoardPlace::Kitchen, view.filter, &found);
    let back = path(BoardPlace::Kitchen, view.filter);
    let card = |it| KitchenCard::new(user.lang, &user.csrf, &back, it, now);
    Ok(page(&KitchenPage {
        layout: user.layout(NavItem::Board),
        t: BoardWords::of(user.lang),
        w: BoardToolWords::of(user.lang),
        cards: found
            .open
            .into_iter()
            .map(card)
            .filter(|it| it.is_shown)
            .collect(),
        form: FilterForm::new(&user, &view, names),
        stream,
        now_ms: now.as_millis(),
        has_more: found.has_more,
    }))
}
