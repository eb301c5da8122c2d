//! What pages are built from: layout, forms, formats, cookies, headers.

pub mod assets;
pub mod chart;
pub mod compression;
pub mod confirm_delete;
pub mod cookies;
pub mod csrf;
pub mod csv;
pub mod day_range;
pub mod error;
pub mod explain;
pub mod field_problem;
pub mod fields;
pub mod first_steps;
pub mod flash;
pub mod form;
pub mod form_errors;
pub mod format;
pub mod frame;
pub mod lang;
pub mod names;
pub mod paging;
pub mod restaurant_header;
pub mod security_headers;
pub mod session_renewal;
pub mod visitor;
