//! Events go out by themselves: real receivers, real sockets, and a ledger of what arrived.

/// Names a test for each case and engine; a case opens its own house.
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

mod basics;
mod changing;
mod clock;
mod crash;
mod crowd;
mod hostile;
mod isolation;
mod order;
mod reasons;
mod resend;
mod scene;
mod site;
