//! Tests a connection: does the platform accept the credentials, and know the branch?

use super::{branches, integrations};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::platform_client::{Contact, converse, has_session, log_in};
use crate::net::Log;
use crate::telemetry::Topic;
use garson_core::explanation::PlatformTask;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::platform::{CallError, PlatformError, Window};
use garson_store::tables::integrations::Connected;
use std::time::Duration;
use tokio::time::Instant;

const DEADLINE: Duration = Duration::from_secs(15);
/// Long enough for platforms to accept the request, and short enough for few orders.
const WINDOW: Duration = Duration::from_secs(60);

/// What the platform's response has proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The platform lets us read the branch's orders.
    Orders,
    /// The platform lets us log in.
    LogIn,
}

/// Makes a request that changes nothing. Fails for platforms that offer none.
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
    let has_session = log_in(app, &contact, until).await.map_err(as_fault)?;
    request(app, &connected, &contact, has_session, until).await
}

/// The same in the background: an open session is used, and successes are not logged.
pub(crate) async fn try_in_background(app: &App, connected: &Connected) -> Result<Proof, Fault> {
    let platform = integrations::platform(connected.integration.provider.as_str())?;
    let mut contact = Contact::new(app, platform, Some(connected));
    contact.log = Log::Failures;
    let until = Instant::now() + DEADLINE;
    let has_session = has_session(app, &contact, until).await.map_err(as_fault)?;
    request(app, connected, &contact, has_session, until).await
}

async fn request(
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
    .map_err(as_fault)?;
    branches::note_success(app, connected, contact).await?;
    Ok(Proof::Orders)
}

fn as_fault(trouble: CallError) -> Fault {
    match trouble {
        CallError::Refused { message } | CallError::RetryableRefusal { message, .. } => {
            Fault::ProviderRefused { message }
        }
        other => Fault::ProviderUnreachable {
            message: other.explanation(),
        },
    }
}
