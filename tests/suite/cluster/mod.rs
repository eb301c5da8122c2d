//! Several nodes on one PostgreSQL, as processes of their own, held against a ledger of what was acknowledged and what
//! arrived: inbound at any of them, killed, paused, stopped and started again.

mod cluster_setup;
mod load;
mod node_killed;
mod node_paused;
mod node_stopped;
mod sink;
mod steady;
