//! Reports the state of the printer, and receives the tickets that people want printed.

use super::super::command::CommandError;
use super::api::{Api, Report};
use super::backoff::Backoff;
use super::report::Shared;
use super::state::StateStore;
use garson_core::id::{PrinterId, RestaurantId};
use std::sync::Arc;
use std::time::Duration;

/// How often the state is reported, and requested tickets are asked for.
const REPORT_INTERVAL: Duration = Duration::from_secs(5);
pub const MAX_PAUSE: Duration = Duration::from_secs(30);

pub struct Reporter {
    pub api: Arc<Api>,
    pub shared: Arc<Shared>,
    pub state: Arc<StateStore>,
    pub name: String,
    pub restaurant: Option<RestaurantId>,
}

impl Reporter {
    /// The printer's id at the service: the known one, or that of a new registration.
    pub async fn register(&self) -> Result<PrinterId, CommandError> {
        match self.state.read(|state| state.printer_id) {
            Some(id) => Ok(id),
            None => self.register_again().await,
        }
    }

    /// Registers the printer, however long it takes, and stores its id at once: an agent that ends before would register another.
    async fn register_again(&self) -> Result<PrinterId, CommandError> {
        let mut pause = Backoff::new(MAX_PAUSE);
        let id = loop {
            match self.api.register(&self.name, self.restaurant).await {
                Ok(id) => break id,
                Err(failure) => {
                    tracing::warn!(%failure, "the printer is not registered; trying again");
                    pause.wait().await;
                }
            }
        };
        self.state.update(|state| state.printer_id = Some(id))?;
        Ok(id)
    }

    /// Reports until it is aborted; fails only if the state cannot be stored.
    pub async fn run(self, mut id: PrinterId) -> Result<(), CommandError> {
        loop {
            let (condition, waiting, printed) = self.shared.report();
            let now = self.api.clock.now();
            let report = Report {
                state: condition.state,
                message: &condition.message,
                waiting,
                skipped: self.state.read(|state| state.skipped_lately(now)),
                clock_ahead: self.api.clock.wrong_by(),
                printed: &printed,
            };
            match self.api.report(id, &report).await {
                Ok(jobs) => {
                    self.shared.forget_printed(&printed);
                    self.shared.add_jobs(jobs);
                }
                // It was removed in the panel, but it still prints.
                Err(failure) if failure.is_not_found() => {
                    id = self.register_again().await?;
                    self.shared.forget_printed(&printed);
                    continue;
                }
                Err(failure) => tracing::debug!(%failure, "the printer's state was not reported"),
            }
            tokio::select! {
                () = self.shared.changed.notified() => {}
                () = tokio::time::sleep(REPORT_INTERVAL) => {}
            }
        }
    }
}
