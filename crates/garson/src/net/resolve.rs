//! Turning names into addresses; a trait, so that tests can let a name lead anywhere.

mod sharing;
mod system;

pub use sharing::Sharing;
pub use system::SystemResolver;

use garson_core::id::AccountId;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;

/// The addresses of a name, in time.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

pub trait Resolve: Send + Sync {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a>;

    /// The same for an account that has given the name, where that makes a difference.
    fn resolve_for<'a>(&'a self, name: &'a str, _account: Option<AccountId>) -> Resolving<'a> {
        self.resolve(name)
    }
}
