//! The control panel as a browser without script meets it, and the stream that its script follows.

mod board;
mod keys;
mod live;
pub mod pages;
mod platforms;
mod sessions;
mod signing;
mod tokens;
