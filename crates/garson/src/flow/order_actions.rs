//! Actions on orders: a client or the panel acts, the platform is asked or called, and the outcome is recorded.

pub mod act;
pub mod ask;
pub mod attempt;
pub mod calls;
pub mod conclude;
pub mod reasons;
