//! Plumbing of the pages: sessions, forms, errors, cookies, headers and formats.

pub mod assets;
pub mod attention;
pub mod browser_name;
pub mod compression;
pub mod cookies;
pub mod csrf;
pub mod current_user;
pub mod error;
pub mod explain;
pub mod fallback;
pub mod field_problem;
pub mod flash;
pub mod form;
pub mod form_data;
pub mod form_errors;
pub mod form_input;
pub mod form_page;
pub mod format;
pub mod guest;
pub mod https;
pub mod layout;
pub mod live_parts;
pub mod local_time;
pub mod names;
pub mod navigation;
pub mod paging;
pub mod phone;
pub mod readable;
pub mod redirect;
pub mod security_headers;
pub mod session_renewal;
pub mod short_id;
mod strip_comments;
#[cfg(test)]
mod style_tests;
pub mod time_ago;
