//! How far a request has come; it survives a request that is cut off by its deadline.

use crate::net::guard::Target;
use crate::net::sent::{SendError, Stage, Timing};
use garson_core::explanation::{Explanation, NetworkFailure};
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub struct Progress {
    pub timing: Timing,
    /// The stage that runs.
    pub stage: Stage,
    /// The request was handed to a connection and did not come back: it may have arrived.
    pub is_sent: bool,
    pub is_repeated: bool,
}

impl Progress {
    pub fn begin(&mut self, stage: Stage) -> Instant {
        self.stage = stage;
        Instant::now()
    }

    /// The error for a failure of the present stage. A request that was sent once may have arrived, whatever fails after that.
    pub fn failed(&self, why: impl Into<Explanation>) -> SendError {
        if self.is_sent {
            SendError::Broken(why.into())
        } else {
            SendError::unreachable(self.stage, why)
        }
    }

    /// The error for a request that reached its deadline.
    pub fn timed_out(&self, target: &Target, within: Duration) -> SendError {
        match self.stage {
            _ if self.is_sent => SendError::TimedOut(within),
            Stage::Name => self.failed(NetworkFailure::NameNotResolvedInTime {
                name: target.host().to_string(),
                within,
            }),
            Stage::Tls => self.failed(NetworkFailure::NoTlsInTime { within }),
            Stage::Connect | Stage::Exchange => self.failed(NetworkFailure::NoConnectionInTime { within }),
        }
    }
}
