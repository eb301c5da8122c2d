//! The door outward, through the endpoints that use it.

mod answers;
mod callback;
mod certificates;
mod clear_text;
mod crowded_calls;
mod crowded_names;
mod door;
mod guard;
mod kept;
mod names;
mod proxy;
mod recorded;
mod recorded_sides;
mod resend;
mod slow;
mod spelling;
mod stages;
