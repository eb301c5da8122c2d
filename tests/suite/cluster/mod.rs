//! Several nodes on one PostgreSQL, as processes of their own, held against a ledger of what was acknowledged and what
//! arrived: inbound at any of them, killed, paused, stopped and started again.

mod killed;
mod load;
mod nodes;
mod paused;
mod sink;
mod steady;
mod stopped;
