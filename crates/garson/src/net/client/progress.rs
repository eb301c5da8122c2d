//! How far an attempt has come: known also when the attempt is cut off.

use crate::net::guard::Target;
use crate::net::sent::{SendError, Stage, Timing};
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub struct Progress {
    pub timing: Timing,
    /// What is under way.
    pub stage: Stage,
    /// The request was handed to a connection and did not come back: it may arrive.
    pub is_sent: bool,
    pub is_repeated: bool,
}

impl Progress {
    /// Begins a stage.
    pub fn begin(&mut self, stage: Stage) -> Instant {
        self.stage = stage;
        Instant::now()
    }

    /// A failure of what is under way, in the right class: what was sent once may have arrived, whatever follows.
    pub fn failed(&self, why: impl Into<String>) -> SendError {
        match self.is_sent {
            true => SendError::Broken(why.into()),
            false => SendError::unreachable(self.stage, why),
        }
    }

    /// What the end of its time means for an attempt.
    pub fn cut_off(&self, target: &Target, limit: Duration) -> SendError {
        let seconds = limit.as_secs_f32();
        match self.stage {
            _ if self.is_sent => SendError::TimedOut(limit),
            Stage::Name => self.failed(format!(
                "the name {} was not resolved within {seconds} s",
                target.host()
            )),
            Stage::Tls => self.failed(format!("no TLS connection within {seconds} s")),
            Stage::Connect | Stage::Exchange => self.failed(format!("no connection within {seconds} s")),
        }
    }
}
