//! What nodes and the database exchange.

/// When a retry is due: at once, or after everything else in this model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Due {
    Now,
    Later,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    Accepted,
    Refused,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Settlement {
    /// The event's attempts when this one began.
    pub attempts: u8,
    pub outcome: Outcome,
    /// The database has stored it, which the node may not know.
    pub is_stored: bool,
}

/// Events and state as read from the database.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Load {
    pub is_owner: bool,
    pub after: u8,
    pub fresh: u16,
    pub late: u16,
    pub with_late: bool,
    pub next_late: Option<Due>,
    pub attempts: Vec<u8>,
    pub last_position: u8,
    pub version: u8,
    /// Events settled since the read, and the first retry planned since.
    pub settled_meanwhile: u16,
    pub late_meanwhile: Option<Due>,
}
