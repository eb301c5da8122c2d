//! The control panel in a real browser, with and without script. One engine is enough here: what pages show and do is
//! tested on both below `panel/`.

mod board;
mod connecting;
mod docs;
mod every_page;
mod keyboard;
mod keys;
mod line;
mod no_script;
mod orders;
mod reports;
mod scene;
mod signing;
mod webhook;
mod weight;
