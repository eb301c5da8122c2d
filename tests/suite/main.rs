//! The whole service from outside: real sockets, real processes, every API case on both engines.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)]

/// Names a test for each case and engine.
macro_rules! cases {
    ($($case:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $case() {
                crate::support::run(crate::support::Backend::Sqlite, super::$case);
            })*
        }
        mod postgres {
            $(#[test]
            fn $case() {
                crate::support::run(crate::support::Backend::Postgres, super::$case);
            })*
        }
    };
}

/// The same for cases that open a service or a world of their own.
macro_rules! on_both {
    ($($case:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $case() {
                crate::support::block_on(super::$case(crate::support::Backend::Sqlite));
            })*
        }
        mod postgres {
            $(#[test]
            fn $case() {
                crate::support::block_on(super::$case(crate::support::Backend::Postgres));
            })*
        }
    };
}

mod api;
mod browser;
mod cli;
mod cluster;
mod crash;
mod deliver;
mod hooks;
mod isolation;
mod net;
mod panel;
mod platforms;
mod server;
mod support;
