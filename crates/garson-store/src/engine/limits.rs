//! How long things may take, all of it derived from one time: within which whoever asks the database has an answer.

use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    answer: Duration,
}

impl Limits {
    pub fn within(answer: Duration) -> Self {
        Self { answer }
    }

    /// A caller hears within this time that the database does not answer, with some of it left to say so. A job that has not
    /// been begun by then is not run any more.
    pub fn job(self) -> Duration {
        self.answer * 9 / 10
    }

    /// A statement that takes longer is given up, and its connection with it. It leaves room for what the server itself does
    /// about a client that has stopped within a transaction.
    pub fn statement(self) -> Duration {
        self.answer * 8 / 10
    }

    /// A host that does not let anybody in within this time is passed over.
    pub fn connect(self) -> Duration {
        self.answer * 3 / 10
    }
}
