//! Every platform from end to end, through the simulator: what the API shows and what the platform has heard.

/// Names a test for each case and engine; a case opens a town of its own.
macro_rules! towns {
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

mod accepting;
mod arriving;
mod automatic;
mod away;
mod cancelling;
mod counting;
mod crash;
mod doors;
mod gap;
mod joining;
mod kept;
mod quirks;
mod reviewed;
mod road;
mod scheduled;
mod sessions;
mod unclear;
