//! The values of `olay`.

pub const CREATED: &str = "siparis.olusturuldu";
pub const MOVED: &str = "siparis.durum_degisti";
pub const CANCELLED: &str = "siparis.iptal_edildi";
/// Sent only to accounts that have opted in.
pub const UPDATED: &str = "siparis.guncellendi";
pub const INTEGRATION_TOGGLED: &str = "entegrasyon.durum_degisti";
/// Sent only to accounts that have opted in.
pub const STORE_CHANGED: &str = "magaza.durum_degisti";
/// Sent only to accounts that have opted in.
pub const PRODUCT_CHANGED: &str = "urun.durum_degisti";
/// Sent only to accounts that have opted in.
pub const MENU_CHANGED: &str = "menu.degisti";
/// The names of all events that are stored.
pub const NAMES: [&str; 8] = [
    CREATED,
    MOVED,
    CANCELLED,
    UPDATED,
    INTEGRATION_TOGGLED,
    STORE_CHANGED,
    PRODUCT_CHANGED,
    MENU_CHANGED,
];
/// What `POST /webhook/test` sends.
pub const TEST: &str = "test";
