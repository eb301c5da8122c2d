//! The simulated platforms of the demo: four of them, each with a store of both sample restaurants.

use crate::cli::command::CommandError;
use crate::config::Settings;
use crate::flow::admin::integrations::IntegrationChange;
use garson_core::secret::Secret;
use garson_sim::views::{Autopilot, OrderRequest, Quirks, StoreRequest};
use garson_sim::{ControlClient, Platform, Sim, SimSettings, sample_store};
use serde_json::Value;
use std::net::SocketAddr;

/// Getir requires a minute between two status changes, which is too slow for a demo.
const GAP_SECONDS: u32 = 3;
const USUAL_PORT: u16 = 8090;
const ORDERS_PER_MINUTE: u32 = 20;

/// Starts the simulator on the port that `garson sim` uses by default, or on a free one if that is in use.
pub async fn start() -> Result<Sim, CommandError> {
    let settings = |port| SimSettings {
        listen: SocketAddr::from(([127, 0, 0, 1], port)),
        getir_gap_seconds: u64::from(GAP_SECONDS),
        seed: u64::from(std::process::id()),
        ..SimSettings::default()
    };
    match Sim::start(settings(USUAL_PORT)).await {
        Ok(sim) => Ok(sim),
        Err(_) => Ok(Sim::start(settings(0)).await?),
    }
}

/// Points the service at the simulator instead of the real platforms.
pub fn redirect(settings: &mut Settings, sim: SocketAddr) {
    settings.simulator = format!("http://{sim}");
    for platform in Platform::ALL {
        let found = settings.platforms.entry(platform.name().to_owned()).or_default();
        found.base_url = format!("http://{sim}/{platform}");
        found.poll_seconds = found.poll_seconds.min(5);
        if found.seconds_between_moves > 0 {
            found.seconds_between_moves = GAP_SECONDS;
        }
    }
}

/// The integration of such a store.
pub fn integration(platform: Platform, number: u32) -> IntegrationChange {
    let (remote_id, credentials) = sample_store(platform, number);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let entries = credentials.as_object().into_iter().flatten();
    IntegrationChange {
        is_active: Some(true),
        remote_id: Some(Some(remote_id)),
        credentials: Some(
            entries
                .map(|(name, value)| (name.clone(), Some(Secret::new(text(value)))))
                .collect(),
        ),
        default_cancel_reason: None,
    }
}

/// Opens the stores of so many restaurants on the platforms, and lets customers order by themselves.
pub async fn open(sim: SocketAddr, service: SocketAddr, restaurants: u32) -> Result<(), CommandError> {
    let control = ControlClient::new(format!("http://{sim}"));
    for platform in Platform::ALL {
        for number in 1..=restaurants {
            let (remote_id, credentials) = sample_store(platform, number);
            let store = control
                .put_store(&StoreRequest {
                    platform,
                    remote_id,
                    name: None,
                    hook_url: Some(format!("http://{service}")),
                    credentials,
                    quirks: Quirks::default(),
                })
                .await?;
            // The first order comes at once.
            let first = OrderRequest {
                remote_id: Some(store.remote_id),
                ..OrderRequest::new(platform)
            };
            control.place_orders(&first).await?;
        }
    }
    control
        .autopilot(Autopilot {
            orders_per_minute: ORDERS_PER_MINUTE,
            customers_cancel_percent: 5,
            courier_seconds: 8,
        })
        .await?;
    Ok(())
}
