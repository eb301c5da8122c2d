//! The control API in types: what it takes and what it answers, for its server and for [`crate::client`].

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::platform::Platform;

/// `PUT /control/stores`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreRequest {
    pub platform: Platform,
    pub remote_id: String,
    #[serde(default)]
    pub name: Option<String>,
    /// Where the service listens; without it the store is never pushed to.
    #[serde(default)]
    pub hook_url: Option<String>,
    pub credentials: Value,
    #[serde(flatten)]
    pub quirks: Quirks,
}

/// Ways in which stores of one platform are known to differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Quirks {
    /// Getir: pushes carry the order itself, not wrapped as `foodOrder`.
    pub flat: bool,
    /// Getir: 100 active, 200 passive.
    pub pos_status: u16,
    /// Trendyol: packages in the Uber model.
    pub uber: bool,
    /// Yemeksepeti: the restaurant's tablet accepts, so that orders name no address to accept them.
    pub indirect: bool,
    /// Migros: the form of `data` in answers.
    pub replies: Replies,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            flat: false,
            pos_status: 100,
            uber: false,
            indirect: false,
            replies: Replies::Plain,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replies {
    #[default]
    Plain,
    /// `data` is the encrypted text.
    Text,
    /// `data` is `{"value": encrypted text}`.
    Value,
}

/// A store as `GET /control/stores` shows it: without its secrets.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreView {
    pub platform: Platform,
    pub remote_id: String,
    pub name: String,
    pub hook_url: Option<String>,
    #[serde(flatten)]
    pub quirks: Quirks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Courier {
    Platform,
    Restaurant,
    Pickup,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Paid {
    Cash,
    Card,
    Online,
    MealCard,
}

/// `POST /control/orders`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OrderRequest {
    pub platform: Platform,
    /// Without it, one of the platform's stores by chance.
    #[serde(default)]
    pub remote_id: Option<String>,
    #[serde(default = "one")]
    pub count: usize,
    #[serde(default)]
    pub courier: Option<Courier>,
    #[serde(default)]
    pub scheduled_in_minutes: Option<u32>,
    #[serde(default)]
    pub payment: Option<Paid>,
    /// `false`: the order is only found by polling.
    #[serde(default = "yes")]
    pub push: bool,
}

impl OrderRequest {
    /// One pushed order with default properties.
    pub fn new(platform: Platform) -> Self {
        Self {
            platform,
            remote_id: None,
            count: one(),
            courier: None,
            scheduled_in_minutes: None,
            payment: None,
            push: yes(),
        }
    }
}

fn one() -> usize {
    1
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacedOrder {
    pub platform: Platform,
    pub provider_order_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    pub remote_id: String,
}

/// An order as the platform has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderView {
    pub platform: Platform,
    pub provider_order_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    pub remote_id: String,
    /// The platform's own word, or Getir's number.
    pub state: Value,
    pub courier: Courier,
    /// What the customer pays, in kuruş.
    pub total: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_order_id: Option<String>,
    pub history: Vec<HistoryLine>,
    pub pushes: Vec<PushLine>,
}

impl OrderView {
    /// The state as text, for Getir's numbers too.
    pub fn state_text(&self) -> String {
        self.state
            .as_str()
            .map_or_else(|| self.state.to_string(), str::to_owned)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryLine {
    pub at: String,
    pub state: Value,
    /// `customer`, `platform`, `restaurant`, `courier` or `api`.
    pub by: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PushLine {
    pub at: String,
    pub kind: String,
    /// What the service answered; nothing when it did not.
    pub status: Option<u16>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Assigned,
    Arrived,
    PickedUp,
    Delivered,
}

/// Who closed a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClosedBy {
    /// A call to the platform's API.
    Api,
    /// The restaurant's own tablet.
    Restaurant,
    /// The platform by itself.
    Platform,
    /// The platform, because an order was not answered in time.
    UnansweredOrder,
}

/// `PATCH /control/stores/{platform}/{remoteId}/shop`: what is left out stays as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ShopRequest {
    /// Opens or closes the store, without a call to its API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
    /// Who closes it; the platform, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<ClosedBy>,
    /// Why, in the platform's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For how long it is closed; nothing: until it is opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_seconds: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deactivated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_hours: Option<bool>,
    /// Yemeksepeti: whether the state may be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changeable: Option<bool>,
    /// Yemeksepeti: whether the restaurant has to check in first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_in_required: Option<bool>,
    /// Yemeksepeti: so many times the state is answered with 204.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_ready_answers: Option<u32>,
    /// Timed closings and timed items do not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forgets_timers: Option<bool>,
    /// Changes are answered with success and not made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignores_changes: Option<bool>,
    /// `open` or `closed`: what the API says of the state, whatever it is. Any other word: the truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads_as: Option<String>,
    /// Yemeksepeti: what is reported of catalogs, in the platform's word, such as `done`; empty: nothing. The last catalog is
    /// reported at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog_result: Option<String>,
}

/// What a platform knows of a store, as the control API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShopView {
    pub open: bool,
    pub closed_by: Option<ClosedBy>,
    pub closed_until: Option<String>,
    pub reason: Option<String>,
    pub deactivated: bool,
    pub busy_minutes: Option<u64>,
    pub hours: Vec<HoursLine>,
    /// The items that were ever changed.
    pub items: Vec<ItemView>,
}

/// A span of a weekday; Monday is 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HoursLine {
    pub day: u8,
    pub opens: String,
    pub closes: String,
}

impl HoursLine {
    /// The hours that every store has at first.
    pub fn daily(day: u8) -> Self {
        Self {
            day,
            opens: "10:00".to_owned(),
            closes: "23:00".to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemView {
    pub id: String,
    pub available: bool,
    pub off_until: Option<String>,
    pub off_for_today: bool,
    /// In kuruş, where it was changed.
    pub price: Option<i64>,
}

/// `PATCH /control/stores/{platform}/{remoteId}/items/{id}`: an item is changed in the platform's own panel. The id is the one of
/// the platform's menu.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ItemRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<bool>,
    /// In kuruş.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
    /// The item is taken off the menu.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<bool>,
}

/// An item of a store's menu, as `GET /control/stores/{platform}/{remoteId}/items` lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MenuItemView {
    /// The id in the platform's menu; on Yemeksepeti, which shows no menu, the one that its orders name.
    pub id: String,
    pub name: String,
    /// In kuruş, as it was at first.
    pub price: i64,
    pub is_option: bool,
}

/// How many calls each operation of a platform has had: `GET /control/counts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallCount {
    pub platform: Platform,
    pub operation: String,
    /// All calls, and those that were not answered with success.
    pub calls: u64,
    pub refused: u64,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Fault {
    /// The answer comes, later.
    Latency {
        ms: u64,
    },
    /// This answer, and nothing is done. A text as `body` is sent as it is.
    Status {
        status: u16,
        body: Option<Value>,
    },
    /// The work is done, and no answer comes for a minute.
    TimeoutAfterWork,
    /// The work is done, and the connection closed.
    DropAfterWork,
    /// The connection is closed and nothing done; a push is lost.
    Drop,
    /// The work is done, and half of the answer sent; of a push half of its body.
    Malformed,
    /// The login has run out.
    ExpiredToken,
    RateLimited,
    /// The push is sent twice.
    Duplicate,
    /// The push waits until the platform's next one has gone.
    Reorder,
}

/// `POST /control/faults`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FaultRequest {
    pub platform: Platform,
    /// An operation, `push`, or `*` for all operations.
    pub on: String,
    pub fault: Fault,
    /// Only calls about this order, by its id on the platform or its token; nothing: all calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// How often; nothing: until taken back.
    #[serde(default)]
    pub times: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalLine {
    pub number: u64,
    pub at: String,
    pub platform: Platform,
    pub operation: String,
    pub method: String,
    pub path: String,
    /// What was answered; nothing when a fault kept the answer back.
    pub status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_id: Option<String>,
    /// The store of the token or key, where the call has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// The beginning of the request's body, decrypted where the call is about a store or its items; logins are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    pub note: String,
}

/// `POST /control/autopilot`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Autopilot {
    pub orders_per_minute: u32,
    #[serde(default)]
    pub customers_cancel_percent: u8,
    /// How long the platform's couriers take for each step.
    #[serde(default = "courier_seconds")]
    pub courier_seconds: u64,
}

fn courier_seconds() -> u64 {
    20
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    pub status: String,
    pub stores: usize,
    pub orders: usize,
    pub journal: usize,
}
