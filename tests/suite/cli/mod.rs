//! The command line, as the real program.

mod commands;
mod copies;
mod demo;
mod doctor;
mod nodes;
mod secrets;
mod settings;
