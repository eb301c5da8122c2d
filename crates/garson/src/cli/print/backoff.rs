//! Growing pauses between attempts.

use std::time::Duration;

pub struct Backoff {
    next: Duration,
    max: Duration,
}

impl Backoff {
    pub fn new(max: Duration) -> Self {
        Self {
            next: Duration::from_millis(500),
            max,
        }
    }

    /// Waits, longer each time.
    pub async fn wait(&mut self) {
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 2).min(self.max);
    }

    pub fn reset(&mut self) {
        *self = Self::new(self.max);
    }
}
