//! Time limits of jobs, statements and connections, all derived from the time within which a caller gets a reply.

use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    reply: Duration,
}

impl Limits {
    pub fn within(reply: Duration) -> Self {
        Self { reply }
    }

    /// A job's caller gets a timeout after this, with some time left to report it. A job that has not begun by then is not run.
    pub fn job(self) -> Duration {
        self.reply * 9 / 10
    }

    /// A statement that takes longer is abandoned, and its connection with it. Leaves time for the server to end the
    /// transaction of a client that has stopped.
    pub fn statement(self) -> Duration {
        self.reply * 8 / 10
    }

    /// A host that does not accept the connection within this time is skipped.
    pub fn connect(self) -> Duration {
        self.reply * 3 / 10
    }
}
