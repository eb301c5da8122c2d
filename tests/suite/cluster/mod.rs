//! Several nodes on one PostgreSQL, as processes: killed, paused, stopped and restarted under load. A ledger of acknowledgements
//! is compared with what arrived.

mod cluster_setup;
mod load;
mod node_killed;
mod node_paused;
mod node_stopped;
mod rolling_upgrade;
mod sink;
mod steady_state;
