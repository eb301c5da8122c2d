//! Outgoing requests, through the endpoints that make them.

mod attempt_stages;
mod call_isolation;
mod callback;
mod certificates;
mod connection_pool;
mod dns_isolation;
mod dns_rebinding;
mod guard;
mod header_case;
mod odd_responses;
mod plain_http_warning;
mod proxy_variables;
mod recorded;
mod recorded_control;
mod recorded_platforms;
mod recorded_side;
mod resend;
pub mod test_client;
mod timeouts;
