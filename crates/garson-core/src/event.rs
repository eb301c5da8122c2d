//! The events of an account, and their exact JSON bodies.

mod body;
mod names;
mod optional;
mod order_event;
mod platform_events;

pub use body::{integration_body, order_body, test_body};
pub use names::{
    CANCELLED, CREATED, INTEGRATION_TOGGLED, MENU_CHANGED, MOVED, NAMES, PRODUCT_CHANGED, STORE_CHANGED,
    TEST, UPDATED,
};
pub use optional::{OptionalEvent, OptionalEvents};
pub use order_event::{EventKind, NewEvent};
pub use platform_events::{
    MenuEvent, ProductEvent, StoreEvent, StoreEventReason, menu_body, product_body, store_body,
};
