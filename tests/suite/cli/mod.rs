//! The command line, as the real program.

mod backups;
mod certify;
mod certify_defects;
mod certify_pos;
mod check_receiver;
mod commands;
mod demo;
mod doctor;
mod filled;
mod import;
mod logging;
mod migrate;
mod multi_node;
mod receive;
mod schema_check;
mod secrets;
mod settings;
mod storage_outage;
mod unresponsive_postgres;
mod webhook_commands;
