//! Numbers for Prometheus: what the service counts as it goes, and how it stands when somebody looks.
//!
//! Labels are closed sets. No account, address or id is among them, and what is counted often is counted without a lock.

mod calls;
mod delivery;
mod intake;
mod refusals;
mod requests;
mod standing;
mod tally;
mod timings;

pub use calls::{CallOutcome, Calls, Topic};
pub use delivery::Deliveries;
pub use intake::{Intake, IntakeSource, MessageOutcome};
pub use refusals::{Refusal, Refusals};
pub use requests::{RequestKind, Requests};
pub use standing::Standing;

use crate::server::Workers;
use garson_store::Engine;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::registry::Registry;
use std::sync::Arc;

/// Counters that the service raises as it goes.
#[derive(Debug)]
pub struct Metrics {
    pub requests: Requests,
    pub intake: Intake,
    pub calls: Calls,
    pub delivery: Deliveries,
    pub refusals: Arc<Refusals>,
    registry: Registry,
}

impl Metrics {
    #[must_use]
    pub fn of(workers: &Workers) -> Self {
        let mut registry = empty();
        workers.register(&mut registry);
        Self {
            requests: Requests::new(&mut registry),
            intake: Intake::new(&mut registry),
            calls: Calls::new(&mut registry),
            delivery: Deliveries::new(&mut registry),
            refusals: Arc::new(Refusals::new(&mut registry)),
            registry,
        }
    }
}

fn empty() -> Registry {
    Registry::with_prefix("garson")
}

impl Metrics {
    /// Everything in the text form of OpenMetrics.
    #[must_use]
    pub fn render(&self, store: &Engine, standing: &Standing) -> String {
        let mut now = empty();
        standing::register(&mut now, store, standing);
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _written = encode_registry(&mut text, &self.registry)
            .and_then(|()| encode_registry(&mut text, &now))
            .and_then(|()| encode_eof(&mut text));
        text
    }
}

/// A closed set of words for a label.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$about])* $variant,)*
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}
use words;

/// A platform's place in the list of all.
fn place_of(provider: garson_core::platform::Provider) -> Option<usize> {
    let all = garson_platforms::all();
    all.iter().position(|platform| platform.provider() == provider)
}
