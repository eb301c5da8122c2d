//! Tickets of orders.

use super::paging::Query;
use crate::flow::admin::api_auth::Caller;
use crate::flow::read::ticket;
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use crate::http::ticket_page;
use axum::extract::{Path, State};
use axum::response::Response;
use garson_ticket::Lang;
use garson_ticket::render::html::Surroundings;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code)]
pub enum TicketKind {
    Kitchen,
    Courier,
    Customer,
}

#[derive(ToSchema)]
#[allow(dead_code)]
pub enum TicketWidth {
    #[schema(rename = "58")]
    Mm58,
    #[schema(rename = "80")]
    Mm80,
    #[schema(rename = "a4")]
    A4,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code)]
pub enum TicketFormat {
    Html,
    Text,
    Escpos,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code)]
pub enum TicketLang {
    Tr,
    En,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code)]
pub enum TicketCopy {
    Requested,
    Uncertain,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct TicketParams {
    /// Who reads it; `kitchen` if it is left out.
    #[param(inline)]
    kind: Option<TicketKind>,
    /// The paper: rolls of 58 or 80 mm (the default), or A4.
    #[param(inline)]
    width: Option<TicketWidth>,
    /// A page to print (the default), plain text of 32, 48 or 80 columns, or ESC/POS commands for rolls.
    #[param(inline)]
    format: Option<TicketFormat>,
    /// The language; Turkish if it is left out.
    #[param(inline)]
    lang: Option<TicketLang>,
    /// Of ESC/POS, the printer's character set: `pc857` (the default), `wpc1254` or `ascii`; with the printer's own number of it
    /// behind a colon, if it differs from the usual one.
    #[param(pattern = "^(pc857|wpc1254|ascii)(:(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9]))?$")]
    codepage: Option<String>,
    /// Marks the ticket as printed again on request, or as one that may have been printed before.
    #[param(inline)]
    copy: Option<TicketCopy>,
}

/// ESC/POS commands.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[allow(dead_code)]
pub struct TicketBytes(Vec<u8>);

/// A ticket of an order, ready to be printed.
#[utoipa::path(get, path = "/orders/{orderId}/ticket", tag = "Printing",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id"), TicketParams),
    responses((status = 200, content((String = "text/html"), (String = "text/plain"),
        (TicketBytes = "application/octet-stream")))))]
pub async fn get_ticket(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(order_id): Path<String>,
    query: Query,
) -> Result<Response, ApiError> {
    let mut given = Vec::new();
    for name in ["kind", "width", "format", "lang", "codepage", "copy"] {
        let value = query.get(name)?;
        if value.is_some_and(str::is_empty) {
            return Err(ApiError::invalid(
                Code::InvalidParameter,
                name,
                "must not be empty",
            ));
        }
        given.push((name, value));
    }
    let get = |name| {
        given
            .iter()
            .find(|(n, _)| *n == name)
            .and_then(|(_, value)| *value)
    };
    let (options, format) = ticket_page::parse(Lang::Tr, get)
        .map_err(|wrong| ApiError::invalid(Code::InvalidParameter, wrong.name, wrong.message))?;
    let ticket = ticket::ticket(&state.app, caller.account, order_id, options).await?;
    Ok(ticket_page::respond(&ticket, format, &Surroundings::default()))
}
