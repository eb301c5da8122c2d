//! The control panel as a browser without script meets it, and the stream that its script follows.

/// Names a test for each case and engine, for cases that furnish their house themselves.
macro_rules! on_both {
    ($($case:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $case() {
                crate::support::block_on(super::$case(crate::support::Kind::Sqlite));
            })*
        }
        mod postgres {
            $(#[test]
            fn $case() {
                crate::support::block_on(super::$case(crate::support::Kind::Postgres));
            })*
        }
    };
}

mod board;
mod businesses;
mod connecting;
mod integrations;
mod keys;
mod live;
mod matching;
mod menu;
mod order;
mod orders;
mod packages;
pub mod pages;
mod payments;
mod platforms;
mod reports;
mod restaurants;
mod sessions;
mod signing;
mod status;
mod tokens;
mod webhook;
