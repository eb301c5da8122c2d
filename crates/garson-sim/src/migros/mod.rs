//! stub
use crate::{call::*, order::Order, platform::Side, store::*, views::*, world::World};
pub(crate) struct Migros;
impl Side for Migros {
    fn operations(&self) -> &'static [&'static str] {
        &[]
    }
    fn credentials(&self, given: serde_json::Value) -> Result<Credentials, String> {
        serde_json::from_value(given)
            .map(Credentials::Migros)
            .map_err(|e| e.to_string())
    }
    fn route(&self, _: &Call) -> Route {
        Route::unknown()
    }
    fn answer(&self, _: &mut World, _: &Call, _: &Route) -> Reply {
        Reply::empty(http::StatusCode::NOT_FOUND)
    }
    fn expired_token(&self, _: &mut World, _: &Call) -> Reply {
        Reply::empty(http::StatusCode::UNAUTHORIZED)
    }
    fn rate_limited(&self) -> Reply {
        Reply::empty(http::StatusCode::TOO_MANY_REQUESTS)
    }
    fn takes(&self, _: &OrderRequest) -> Result<Courier, String> {
        Err("not played yet".to_owned())
    }
    fn place(&self, _: &mut World, _: &mut Order) {}
    fn announce(&self, _: &mut World, _: &Store, _: u64) {}
    fn cancel(&self, _: &mut World, _: &Store, _: u64, _: &str) -> Result<(), String> {
        Err("not played yet".to_owned())
    }
    fn courier(&self, _: &mut World, _: &Store, _: u64, _: Step) -> Result<(), String> {
        Err("not played yet".to_owned())
    }
    fn is_final(&self, _: &Order) -> bool {
        false
    }
    fn is_ready(&self, _: &str) -> bool {
        false
    }
}
