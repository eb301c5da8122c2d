//! `yemeksepeti`: Yemeksepeti, through Delivery Hero's POS middleware.

mod address;
mod availability;
mod catalog;
mod items;
mod names;
mod order;
mod outcome;
mod payment;
mod prices;
mod read;
mod reasons;
mod soft;
mod state;
mod store;
mod store_reasons;
mod verify;
mod wire;
mod write;

use self::names::{
    CALLBACK_URL, CATALOG_PUSH, CHAIN_CODE, GLOBAL_ENTITY_ID, ORDER, PASSWORD, PLUGIN_SECRET, STATUS,
    USERNAME,
};
use garson_core::explanation::PlatformTask;
use garson_core::integration::Credentials;
use garson_core::order::{CallKind, Courier, Order, Reason};
use garson_core::platform::{
    CallError, CallRequest, Capability, Claim, CredentialField, CredentialKind, HookReply, HookRequest,
    HookRoute, HttpRequest, HttpResponse, IntakeOutcome, Link, Message, Operations, Outcome, Page, Platform,
    PlatformError, PollStyle, Polling, Provider, Session, Unreadable, Verified, Window,
};
use garson_core::secret::Secret;

/// The connector of Yemeksepeti.
#[derive(Clone, Copy, Debug)]
pub struct Yemeksepeti;

const CAPABILITY: Capability = Capability {
    asks: true,
    own_ids: false,
    cancel_after_accept: true,
    live_reasons: false,
    menu: false,
    store: Some(store::SUPPORT),
    hours: None,
    items: Some(availability::SUPPORT),
    prices: Some(prices::SUPPORT),
    catalog_push: Some(catalog::SUPPORT),
    couriers: &[Courier::Platform, Courier::Restaurant, Courier::None],
    seconds_between_moves: 0,
    // Usually; each order has its own deadline.
    accept_within_seconds: Some(900),
    // New orders cannot be polled: the platform repeats what it could not deliver. Cancelled ones can.
    polling: Some(Polling {
        style: PollStyle::Cancelled,
        every_seconds: 120,
    }),
    look: true,
    limits: &[],
};

const OPERATIONS: Operations = Operations {
    read_store: Some(store::read_store),
    change_store: Some(store::change_store),
    change_items: Some(availability::change_items),
    change_prices: Some(prices::change_prices),
    push_catalog: Some(catalog::push_catalog),
    read_catalog_import: Some(catalog::read_import),
    read_catalog_log: Some(catalog::read_log),
    ..Operations::NONE
};

impl Platform for Yemeksepeti {
    fn provider(&self) -> Provider {
        Provider::new("yemeksepeti")
    }

    fn name(&self) -> &'static str {
        "Yemeksepeti"
    }

    fn capability(&self) -> &'static Capability {
        &CAPABILITY
    }

    fn operations(&self) -> &'static Operations {
        &OPERATIONS
    }

    fn credential_fields(&self) -> &'static [CredentialField] {
        const {
            &[
                CredentialField::required(USERNAME, CredentialKind::Plain)
                    .called("Kullanıcı adı", "User name"),
                CredentialField::required(PASSWORD, CredentialKind::Secret)
                    .given()
                    .called("Parola", "Password"),
                CredentialField::required(CHAIN_CODE, CredentialKind::Plain)
                    .called("Zincir kodu (chainCode)", "Chain code"),
                CredentialField::required(PLUGIN_SECRET, CredentialKind::Secret)
                    .given()
                    .called("Eklenti gizli anahtarı (plugin secret)", "Plugin secret"),
                CredentialField::optional(GLOBAL_ENTITY_ID, CredentialKind::Plain)
                    .called("Platform kodu (globalEntityId)", "Global entity id"),
            ]
        }
    }

    fn branch_credentials(&self) -> &'static [&'static str] {
        &[USERNAME, PASSWORD]
    }

    fn settings(&self) -> &'static str {
        include_str!("settings.toml")
    }

    fn hooks(&self) -> &'static [HookRoute] {
        &[
            HookRoute {
                method: "POST",
                path: "/order/{remoteId}",
                kind: ORDER,
            },
            HookRoute {
                method: "PUT",
                path: "/remoteId/{remoteId}/remoteOrder/{remoteOrderId}/posOrderStatus",
                kind: STATUS,
            },
        ]
    }

    fn claim(&self, request: &HookRequest) -> Claim {
        verify::claim(request)
    }

    fn inbound_secret(&self, _credentials: &Credentials) -> Option<Secret<Vec<u8>>> {
        None
    }

    fn verify<'a>(&self, request: &'a HookRequest, credentials: &Credentials) -> Option<Verified<'a>> {
        verify::verify(request, credentials)
    }

    fn read(&self, message: &Verified<'_>) -> Result<Message, Unreadable> {
        read::read(message.request())
    }

    fn reply(&self, reception: &IntakeOutcome, request_id: &str) -> HookReply {
        write::reply(reception, request_id)
    }

    fn fixed_reasons(&self, order: Option<&Order>) -> Vec<Reason> {
        reasons::fixed(order)
    }

    fn wants(&self, call: CallKind, order: &Order, _credentials: &Credentials) -> bool {
        write::wants(call, order)
    }

    fn takes_preparation_time(&self, order: &Order) -> bool {
        write::takes_preparation_time(order)
    }

    fn is_implied(&self, call: CallKind, order: &Order) -> bool {
        write::is_implied(call, order)
    }

    fn refused_address(&self, call_request: &CallRequest<'_>, link: &Link<'_>) -> Option<String> {
        write::refused_address(call_request, link)
    }

    fn write(&self, call_request: &CallRequest<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        write::write(call_request, link)
    }

    fn outcome(&self, call: CallKind, _link: &Link<'_>, response: &HttpResponse) -> Outcome {
        outcome::outcome(call, response)
    }

    fn word_after(&self, call: CallKind, _order: &Order) -> Option<&'static str> {
        write::word_after(call)
    }

    fn login(&self, link: &Link<'_>) -> Result<Option<HttpRequest>, PlatformError> {
        write::login(link).map(Some)
    }

    fn session(&self, response: &HttpResponse) -> Result<Session, CallError> {
        outcome::session(response)
    }

    fn poll(&self, link: &Link<'_>, _window: &Window, _page: u32) -> Result<HttpRequest, PlatformError> {
        write::cancelled_ids(link)
    }

    fn polled(&self, _link: &Link<'_>, _page: u32, response: &HttpResponse) -> Result<Page, CallError> {
        outcome::cancelled_ids(response)
    }

    fn look(&self, order: &Order, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        write::look(order, link)
    }

    /// The platform promises no more of an order that is read back than whether it was accepted or cancelled.
    fn shows(&self, call: CallKind) -> bool {
        matches!(call, CallKind::Verify | CallKind::Cancel)
    }

    fn hides_unaccepted(&self) -> bool {
        true
    }

    fn looked(&self, _link: &Link<'_>, response: &HttpResponse) -> Result<Vec<u8>, CallError> {
        outcome::looked(response)
    }

    fn is_enabled(&self, task: PlatformTask, credentials: &Credentials) -> bool {
        let value = |name: &str| credentials.get(name).map_or("", |value| value.expose().trim());
        match task {
            PlatformTask::ChangePrices | PlatformTask::ChangeBranchPrices => {
                !value(GLOBAL_ENTITY_ID).is_empty() && !value(CALLBACK_URL).is_empty()
            }
            PlatformTask::PushCatalog => value(CATALOG_PUSH) == "on",
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
