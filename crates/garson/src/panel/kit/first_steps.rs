//! An account without a single order: what to do next, for every page that would otherwise have nothing to show.

use super::error::PanelError;
use super::visitor::Visitor;
use crate::flow::intake::test_orders;
use crate::flow::read::reports;
use crate::http::state::HttpState as Api;
use crate::panel::words::BoardWords;

/// What `parts::start` shows.
pub struct Start {
    /// Can a simulated customer order?
    pub can_be_tested: bool,
    pub test_order: &'static str,
}

impl Start {
    /// Nothing, once there has been an order.
    pub async fn read(api: &Api, visitor: &Visitor) -> Result<Option<Self>, PanelError> {
        let (app, account) = (&api.app, visitor.account.id);
        let fail = |fault| visitor.fail(fault);
        if reports::has_orders(app, account).await.map_err(fail)? {
            return Ok(None);
        }
        Ok(Some(Self {
            can_be_tested: test_orders::can_order_any(app, account, None)
                .await
                .map_err(fail)?,
            test_order: BoardWords::of(visitor.lang).test_order,
        }))
    }
}
