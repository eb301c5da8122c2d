//! The last API calls of an account.

use crate::app::App;
use crate::flow::Fault;
use garson_core::id::AccountId;
use garson_store::lists::feed::{Page, PageRequest};
use garson_store::lists::request_log::{RequestFilter, page};
use garson_store::tables::request_log::LoggedCall;

/// A page of the calls, newest first. Calls of the last second may be missing.
pub async fn list(
    app: &App,
    account: AccountId,
    filter: RequestFilter,
    request: PageRequest,
) -> Result<Page<LoggedCall>, Fault> {
    app.store
        .read(move |tx| Ok(page(tx, account, &filter, request)?))
        .await
}
