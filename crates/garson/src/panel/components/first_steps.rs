//! What to do first, shown instead of an empty list while the account has no orders.

use crate::flow::intake::test_orders;
use crate::flow::read::reports;
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::words::BoardWords;

pub struct FirstSteps {
    /// A test order can be sent from the simulator.
    pub can_send_test_order: bool,
    pub test_order: &'static str,
}

impl FirstSteps {
    /// `None` once the account has an order.
    pub async fn read(api: &HttpState, user: &CurrentUser) -> Result<Option<Self>, PanelError> {
        let (app, account) = (&api.app, user.account.id);
        let fail = |fault| user.fail(fault);
        if reports::has_orders(app, account).await.map_err(fail)? {
            return Ok(None);
        }
        Ok(Some(Self {
            can_send_test_order: test_orders::can_order_any(app, account, None)
                .await
                .map_err(fail)?,
            test_order: BoardWords::of(user.lang).test_order,
        }))
    }
}
