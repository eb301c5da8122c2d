//! Tickets of orders as pages to print, and printers that agents serve.

use crate::flow::Fault;
use crate::flow::admin::input::printer_id;
use crate::flow::admin::printers;
use crate::flow::fault::Thing;
use crate::flow::read::ticket;
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use crate::http::ticket_page;
use crate::panel::components::printers::PrinterNotice;
use crate::panel::components::restaurant_header::chosen_restaurant;
use crate::panel::kit::assets;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::fragment;
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::PrintWords;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::id::PrintJobId;
use garson_ticket::Kind;
use garson_ticket::render::html::Surroundings;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/orders/{id}/ticket", get(show_ticket))
        .route("/orders/{id}/print", post(request_print))
        .route("/printers/notice", get(show_notice))
        .route("/printers/{id}/remove", post(remove_printer))
}

/// The same tickets as the API's, with links to the others and a print button around them.
async fn show_ticket(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let (options, format) = ticket_page::parse(user.lang.of_ticket(), |name| Some(params.get(name)))
        .map_err(|wrong| ApiError::invalid(Code::InvalidParameter, wrong.name, wrong.message))
        .map_err(|error| user.fail_with(error))?;
    let found = ticket::ticket(&api.app, user.account.id, id.clone(), options)
        .await
        .map_err(|fault| user.fail(fault))?;
    let path: String = url::form_urlencoded::byte_serialize(id.as_bytes()).collect();
    let around = Surroundings {
        script: Some(assets::ticket_script()),
        path: Some(&format!("/orders/{path}/ticket")),
    };
    Ok(ticket_page::respond(&found, format, &around))
}

/// Sends a ticket to a printer that an agent serves.
async fn request_print(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let t = PrintWords::of(user.lang);
    let (app, account, now) = (&api.app, user.account.id, api.app.now());
    let fail = |fault| user.fail(fault);
    let printer = printer_id(fields.get("printer")).map_err(fail)?;
    if !user.scope().is_all() {
        let all = printers::list(app, account).await.map_err(fail)?;
        let own = all
            .iter()
            .filter(|it| it.restaurant_id.is_none_or(|id| user.scope().has(id)));
        if !own.into_iter().any(|it| it.id == printer) {
            return Err(fail(Fault::not_found(Thing::Printer, printer)));
        }
    }
    let kind = Kind::named(fields.get("kind")).unwrap_or(Kind::Kitchen);
    printers::request_print(app, user.by(), id.clone(), printer, kind, PrintJobId::at(now))
        .await
        .map_err(fail)?;
    let troubled = printers::in_trouble(app, account, None).await.map_err(fail)?;
    let text = if troubled.iter().any(|it| it.id == printer) {
        t.requested_in_trouble
    } else {
        t.requested
    };
    Ok(user.redirect_with_notice(&format!("/orders/{id}"), text))
}

/// The notice above the board, for the script.
async fn show_notice(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let restaurant = chosen_restaurant(&user, &params)?;
    let found = printers::in_trouble(&api.app, user.account.id, restaurant)
        .await
        .map_err(|fault| user.fail(fault))?;
    let layout = user.layout(NavItem::Board);
    Ok(fragment(&PrinterNotice::new(
        &layout,
        restaurant,
        &found,
        api.app.now(),
    )))
}

async fn remove_printer(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let removed = match printer_id(&id) {
        Ok(printer) => printers::remove(&api.app, user.by(), printer).await,
        Err(fault) => Err(fault),
    };
    removed.map_err(|fault| user.fail(fault))?;
    Ok(user.redirect_with_notice("/status", PrintWords::of(user.lang).removed))
}
