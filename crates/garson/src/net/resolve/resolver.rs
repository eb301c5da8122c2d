//! The resolver as a trait, so that tests can let a name lead anywhere.

use garson_core::id::AccountId;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;

/// The future addresses of a name.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

pub trait Resolve: Send + Sync {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a>;

    /// The same for a name that an account has given, if the resolver treats accounts separately.
    fn resolve_for<'a>(&'a self, name: &'a str, _account: Option<AccountId>) -> Resolving<'a> {
        self.resolve(name)
    }
}
