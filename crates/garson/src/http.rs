//! What the API, the panel and the hooks share of HTTP: shared state, bodies and their limits, request ids, errors.

pub mod body;
pub mod body_budget;
pub mod error;
pub mod request_id;
