//! What a connector can do with menus, stores, hours, items and prices, as a table of functions.

use super::{HttpResponse, Link, MenuStep, PlatformError, Step, Unreadable};
use crate::catalog::{CatalogImport, CatalogLogEntry, CatalogPush, CatalogSubmitted};
use crate::item::{ItemChange, ItemReading, ItemRef, ItemsChanged};
use crate::opening_hours::Week;
use crate::price_change::{BatchReading, PriceChange, PricesChanged};
use crate::store_status::{StoreChange, StoreChanged, StoreReading};
use crate::time::Timestamp;

/// The next request, given the responses so far, or the result.
pub type StepResult<T> = Result<Step<T>, PlatformError>;

type Read<T> = fn(&Link<'_>, &[HttpResponse]) -> StepResult<T>;
type Change<C, T> = fn(&C, &Link<'_>, &[HttpResponse]) -> StepResult<T>;
type ReadMenu = fn(&Link<'_>, &[HttpResponse]) -> Result<MenuStep, PlatformError>;
type ReadPrices = fn(&str, &Link<'_>, &[HttpResponse]) -> StepResult<BatchReading>;
type PushCatalog = fn(&CatalogPush<'_>, &Link<'_>, &[HttpResponse]) -> StepResult<CatalogSubmitted>;
type ReadCatalogImport = fn(&[u8]) -> Result<CatalogImport, Unreadable>;
type ReadCatalogLog = fn(Timestamp, &Link<'_>, &[HttpResponse]) -> StepResult<Vec<CatalogLogEntry>>;

/// The functions of a connector; the methods of [`Platform`](super::Platform) with the same names call them. Without a function, the
/// method is an `Unsupported` error.
#[derive(Clone, Copy, Debug)]
pub struct Operations {
    pub menu: Option<ReadMenu>,
    pub read_store: Option<Read<StoreReading>>,
    pub change_store: Option<Change<StoreChange, StoreChanged>>,
    pub read_hours: Option<Read<Week>>,
    pub write_hours: Option<Change<Week, ()>>,
    pub change_items: Option<Change<ItemChange, ItemsChanged>>,
    pub read_item: Option<Change<ItemRef, ItemReading>>,
    pub change_prices: Option<Change<PriceChange, PricesChanged>>,
    pub read_prices: Option<ReadPrices>,
    pub push_catalog: Option<PushCatalog>,
    pub read_catalog_import: Option<ReadCatalogImport>,
    pub read_catalog_log: Option<ReadCatalogLog>,
}

impl Operations {
    pub const NONE: Self = Self {
        menu: None,
        read_store: None,
        change_store: None,
        read_hours: None,
        write_hours: None,
        change_items: None,
        read_item: None,
        change_prices: None,
        read_prices: None,
        push_catalog: None,
        read_catalog_import: None,
        read_catalog_log: None,
    };
}
