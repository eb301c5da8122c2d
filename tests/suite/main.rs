//! End-to-end tests: real sockets and real processes, on both databases.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)]

/// Makes a test of each case on each database. Cases after `; sqlite_only:` run on SQLite alone: they check what does not depend
/// on the database.
macro_rules! cases {
    ($($case:ident)* $(; sqlite_only: $($sqlite:ident)*)?) => {
        mod sqlite {
            $(#[test]
            fn $case() {
                crate::support::run(crate::support::Backend::Sqlite, super::$case);
            })*
            $($(#[test]
            fn $sqlite() {
                crate::support::run(crate::support::Backend::Sqlite, super::$sqlite);
            })*)?
        }
        mod postgres {
            $(#[test]
            fn $case() {
                crate::support::run(crate::support::Backend::Postgres, super::$case);
            })*
        }
    };
}

/// The same for cases that start the service themselves.
macro_rules! on_both {
    ($($case:ident)* $(; sqlite_only: $($sqlite:ident)*)?) => {
        mod sqlite {
            $(#[test]
            fn $case() {
                crate::support::block_on(super::$case(crate::support::Backend::Sqlite));
            })*
            $($(#[test]
            fn $sqlite() {
                crate::support::block_on(super::$sqlite(crate::support::Backend::Sqlite));
            })*)?
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
mod audit;
mod book;
mod browser;
mod cli;
mod cluster;
mod crash;
mod deliver;
mod escalation;
mod hooks;
mod isolation;
mod net;
mod operators;
mod panel;
mod platforms;
mod printing;
mod privacy;
mod products;
mod server;
mod stores;
mod support;
