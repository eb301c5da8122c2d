//! Trying a connection: does the platform know us by these credentials, and the branch by its id?

use super::line::{converse, log_in};
use super::{Fault, integrations};
use crate::app::App;
use crate::telemetry::Topic;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::platform::{PlatformError, Trouble, Window};
use std::time::Duration;
use tokio::time::Instant;

const DEADLINE: Duration = Duration::from_secs(15);
/// Far enough back to be a question that platforms answer, and not for much.
const WINDOW: Duration = Duration::from_secs(60);

/// What an answer has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The platform let us ask for the branch's orders.
    Orders,
    /// The platform let us log in.
    LogIn,
}

/// Asks the platform something that changes nothing. A platform that cannot be asked anything says so.
pub async fn try_connection(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    key: &str,
) -> Result<Proof, Fault> {
    let platform = integrations::platform(key)?;
    let connected = integrations::find(app, account, restaurant, platform.provider()).await?;
    let contact = connected.as_ref().and_then(|connected| app.contact(connected));
    let contact = contact.ok_or_else(|| Fault::NotConnected {
        provider: key.to_owned(),
    })?;
    let until = Instant::now() + DEADLINE;
    let has_session = log_in(app, &contact, until).await.map_err(said)?;
    if platform.capability().polling.is_none() {
        let nothing = Fault::Platform(PlatformError::Unsupported { what: "be tried" });
        return has_session.then_some(Proof::LogIn).ok_or(nothing);
    }
    let now = app.now();
    let window = Window {
        from: now.minus(WINDOW),
        to: now,
    };
    converse(
        app,
        &contact,
        Topic::Poll,
        until,
        |link| platform.poll(link, &window, 0),
        |link, response| platform.polled(link, 0, response).map(drop),
    )
    .await
    .map(|()| Proof::Orders)
    .map_err(said)
}

fn said(trouble: Trouble) -> Fault {
    match trouble {
        Trouble::Refused { message } => Fault::ProviderRefused { message },
        other => Fault::ProviderUnreachable {
            message: other.to_string(),
        },
    }
}
