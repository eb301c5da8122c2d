//! Can the platforms and receivers of the accounts be reached? It connects to them, and sends nothing.

use super::findings::Findings;
use crate::config::Settings;
use crate::net::Client;
use crate::net::guard::Target;
use futures_util::{StreamExt, stream};
use garson_core::platform::Trust;
use garson_core::webhook_endpoint::EndpointState;
use garson_store::tables::{accounts, integrations, webhook_endpoints};
use garson_store::{Engine, StoreError, Tx};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long a connection may take, and how many are made at the same time.
const PATIENCE: Duration = Duration::from_secs(5);
const AT_ONCE: usize = 32;
/// No more receivers are tried: all of them together could take hours.
const MAX_RECEIVERS: usize = 1_000;
/// Integrations of an account that are looked at, for the platforms that they use.
const MAX_INTEGRATIONS: i64 = 10_000;

/// What the accounts use.
#[derive(Default)]
struct InUse {
    platforms: BTreeSet<String>,
    /// The addresses of receivers, with the account of each.
    receivers: BTreeMap<String, String>,
}

pub async fn check(settings: &Settings, store: &Engine, findings: &mut Findings) {
    let found = match store.read(in_use).await {
        Ok(found) => found,
        Err(error) => return findings.wrong(&format!("storage: {error}")),
    };
    let client = settings.certificates().and_then(|certificates| {
        let client = Client::new(settings.policy()?).and_then(|client| client.trusting(&certificates));
        client.map_err(|error| error.to_string())
    });
    let client = match client {
        Ok(client) => client,
        Err(why) => return findings.wrong(&format!("network: {why}")),
    };
    let platforms = found.platforms.into_iter().filter_map(|name| {
        let url = settings.platforms.get(&name)?.base_url.clone();
        (!url.is_empty()).then_some((url, name))
    });
    for (_, name, outcome) in connect_all(&client, platforms.collect(), Trust::Operator).await {
        match outcome {
            Ok(()) => findings.good(&format!("platform {name} can be reached")),
            Err(why) => findings.wrong(&format!("platform {name}: {why}")),
        }
    }
    check_receivers(&client, found.receivers, findings).await;
}

async fn check_receivers(client: &Client, receivers: BTreeMap<String, String>, findings: &mut Findings) {
    let count = receivers.len();
    if count > MAX_RECEIVERS {
        findings.note(&format!(
            "{count} receivers: only {MAX_RECEIVERS} of them are tried"
        ));
    }
    let tried: Vec<_> = receivers.into_iter().take(MAX_RECEIVERS).collect();
    let mut reached = 0;
    for (origin, account, outcome) in connect_all(client, tried, Trust::Account).await {
        match outcome {
            Ok(()) => reached += 1,
            // It is the account's, and its notices tell the account.
            Err(why) => findings.note(&format!("receiver {origin} of {account}: {why}")),
        }
    }
    if reached > 0 {
        findings.good(&format!("{reached} receiver(s) can be reached"));
    }
}

/// Connects to each address; returns its origin, which has no path and no secrets, its owner, and why it cannot be reached.
async fn connect_all(
    client: &Client,
    addresses: Vec<(String, String)>,
    trust: Trust,
) -> Vec<(String, String, Result<(), String>)> {
    let tries = addresses.into_iter().map(|(url, owner)| async move {
        let target = match Target::parse(&url) {
            Ok(target) => target,
            Err(refusal) => return ("?".to_owned(), owner, Err(refusal.to_string())),
        };
        let outcome = match tokio::time::timeout(PATIENCE, client.dial(&target, trust)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no connection within {} seconds", PATIENCE.as_secs())),
        };
        (target.origin().to_string(), owner, outcome)
    });
    stream::iter(tries).buffered(AT_ONCE).collect().await
}

fn in_use(tx: &mut Tx<'_>) -> Result<InUse, StoreError> {
    let mut found = InUse::default();
    for account in accounts::list(tx)? {
        for (_, integration) in integrations::list(tx, account.id, MAX_INTEGRATIONS)? {
            if integration.is_active {
                found.platforms.insert(integration.provider.to_string());
            }
        }
        let mut urls = Vec::new();
        if let Some(webhook) = accounts::webhook(tx, account.id)? {
            urls.push(webhook.url);
        }
        let active = |state: EndpointState| state == EndpointState::Active;
        for endpoint in webhook_endpoints::list(tx, account.id)? {
            urls.extend(endpoint.url.filter(|_| active(endpoint.state)));
        }
        for url in urls {
            found.receivers.insert(url, account.email.clone());
        }
    }
    Ok(found)
}
