//! How much is measured.

#[derive(Clone, Copy)]
pub struct Effort {
    pub pairs: usize,
    pub seconds: f64,
    /// Requests to each side of a pair that takes turns.
    pub turns: u64,
    pub many: u64,
    pub few: u64,
    /// Integrations that are polled.
    pub posts: usize,
    /// Accounts whose receivers are neighbours.
    pub accounts: usize,
}

impl Effort {
    /// Is this meant to be judged?
    pub fn is_full(self) -> bool {
        self.many == FULL.many
    }
}

pub const FULL: Effort = Effort {
    pairs: 7,
    seconds: 3.0,
    turns: 1000,
    many: 1_000_000,
    few: 1_000,
    posts: 5_000,
    accounts: 200,
};

pub const QUICK: Effort = Effort {
    pairs: 1,
    seconds: 0.2,
    turns: 20,
    many: 2_000,
    few: 1_000,
    posts: 20,
    accounts: 10,
};

/// Many clients, as the goals have it.
pub const CLIENTS: usize = 64;
