//! Trying a connection: does the platform know us by these credentials, and the branch by its id?

use super::{branches, integrations};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::platform_client::{Contact, converse, has_session, log_in};
use crate::net::Log;
use crate::telemetry::Topic;
use garson_core::explanation::PlatformTask;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::platform::{PlatformError, Trouble, Window};
use garson_store::tables::integrations::Connected;
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
    let connected = connected.ok_or_else(|| Fault::NotConnected {
        provider: key.to_owned(),
    })?;
    let contact = Contact::new(app, platform, Some(&connected));
    let until = Instant::now() + DEADLINE;
    let has_session = log_in(app, &contact, until).await.map_err(said)?;
    ask(app, &connected, &contact, has_session, until).await
}

/// The same with the session that there may be, for a connection that nobody is waiting for.
pub(crate) async fn try_quietly(app: &App, connected: &Connected) -> Result<Proof, Fault> {
    let platform = integrations::platform(connected.integration.provider.as_str())?;
    let mut contact = Contact::new(app, platform, Some(connected));
    contact.log = Log::Failures;
    let until = Instant::now() + DEADLINE;
    let has_session = has_session(app, &contact, until).await.map_err(said)?;
    ask(app, connected, &contact, has_session, until).await
}

async fn ask(
    app: &App,
    connected: &Connected,
    contact: &Contact,
    has_session: bool,
    until: Instant,
) -> Result<Proof, Fault> {
    let platform = contact.platform;
    if platform.capability().polling.is_none() {
        if !has_session {
            return Err(Fault::Platform(PlatformError::Unsupported {
                what: PlatformTask::TestConnection,
            }));
        }
        branches::note_success(app, connected, contact).await?;
        return Ok(Proof::LogIn);
    }
    let now = app.now();
    let window = Window {
        from: now.minus(WINDOW),
        to: now,
    };
    converse(
        app,
        contact,
        Topic::Poll,
        until,
        |link| platform.poll(link, &window, 0),
        |link, response| platform.polled(link, 0, response).map(drop),
    )
    .await
    .map_err(said)?;
    branches::note_success(app, connected, contact).await?;
    Ok(Proof::Orders)
}

fn said(trouble: Trouble) -> Fault {
    match trouble {
        Trouble::Refused { message } | Trouble::RetryableRefusal { message, .. } => {
            Fault::ProviderRefused { message }
        }
        other => Fault::ProviderUnreachable {
            message: other.explanation(),
        },
    }
}
