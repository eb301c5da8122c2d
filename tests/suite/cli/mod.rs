//! The command line, as the real program.

mod commands;
mod copies;
mod demo;
mod doctor;
mod log_lines;
mod nodes;
mod receive;
mod receive_check;
mod retries;
mod secrets;
mod settings;
mod silent;
mod storage;
