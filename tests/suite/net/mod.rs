//! The door outward, through the endpoints that use it.

mod callback;
mod guard;
mod names;
mod proxy;
mod resend;
mod slow;
