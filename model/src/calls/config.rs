//! The size of the world, and the rules that a test can switch off.

/// A rule of the protocol that a test switches off, to show that the properties detect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// The lease is checked when the attempt begins, but not again directly before the request is sent.
    NoSecondLeaseCheck,
    /// A call is sent although the process has joined under another id since it leased it.
    NoNodeCheck,
    /// A result is written whatever the number of attempts is by now.
    NoAttemptsCheck,
    /// A call that is taken over from a dead node does not count as unclear.
    TakenOverAsClear,
    /// A process that is shutting down still sends what it has leased.
    StoppingProcessSends,
    /// After "already done", when the order cannot be read at once, the call is postponed as if nothing had been sent.
    HeldBackAfterSend,
}

#[derive(Clone, Copy, Debug)]
pub struct Calls {
    pub nodes: u8,
    /// The order's calls, made one after another.
    pub calls: usize,
    /// Crashes, pauses and losses of the database.
    pub faults: u8,
    /// Requests that the platform refuses or does not answer.
    pub trouble: u8,
    /// Requests that the platform's rate limit holds back.
    pub held_back: u8,
    /// The first call is a question that a client waits for: node 0 makes it, and no other attempt sends it.
    pub has_question: bool,
    /// The step may be taken on the platform by others.
    pub may_be_done_elsewhere: bool,
    /// Processes may be replaced by another one at the same address while they shut down.
    pub with_supersede: bool,
    /// An attempt that sent nothing is not counted: `attempts` goes back by one, as in the code.
    pub uncounts_attempts: bool,
    /// Also checks that only the newest lease writes results, which needs attempts that are never uncounted.
    pub checks_newest_lease: bool,
    pub mutation: Option<Mutation>,
}

impl Calls {
    /// One order on two nodes.
    #[must_use]
    pub fn small(calls: usize) -> Self {
        Self {
            nodes: 2,
            calls,
            faults: 2,
            trouble: 1,
            held_back: 1,
            has_question: false,
            may_be_done_elsewhere: false,
            with_supersede: false,
            uncounts_attempts: true,
            checks_newest_lease: false,
            mutation: None,
        }
    }

    #[must_use]
    pub fn with(self, mutation: Mutation) -> Self {
        Self {
            mutation: Some(mutation),
            ..self
        }
    }

    pub(crate) fn has(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }
}
