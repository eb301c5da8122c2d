//! `migros`: Migros Yemek, which pushes orders, can be polled, and requires encrypted bodies.

mod availability;
mod call_data;
mod cipher;
mod hours;
mod lines;
mod menu;
mod names;
mod outcome;
mod prices;
mod read;
mod status;
mod store;
mod verify;
mod wire;
mod write;

use self::names::{
    API_KEY, DELIVERY_STATUS, INBOUND_PASSWORD, INBOUND_USER, KEY_DERIVATION, ORDER_CANCELLED, ORDER_CREATED,
    SECRET_KEY,
};
use garson_core::integration::Credentials;
use garson_core::order::{CallKind, Courier, Order, Reason};
use garson_core::platform::{
    CallError, CallRequest, Capability, Claim, CredentialField, CredentialKind, HookReply, HookRequest,
    HookRoute, HttpRequest, HttpResponse, IntakeOutcome, Link, Message, Operations, Outcome, Page, Platform,
    PlatformError, PollStyle, Polling, Provider, Unreadable, Verified, Window,
};
use garson_core::secret::Secret;

/// The connector of Migros Yemek.
#[derive(Clone, Copy, Debug)]
pub struct Migros;

const CAPABILITY: Capability = Capability {
    asks: true,
    own_ids: false,
    cancel_after_accept: true,
    live_reasons: true,
    menu: true,
    store: Some(store::SUPPORT),
    hours: Some(hours::SUPPORT),
    items: Some(availability::SUPPORT),
    prices: Some(prices::SUPPORT),
    catalog_push: None,
    couriers: &[Courier::Platform, Courier::Restaurant],
    seconds_between_moves: 0,
    // There is a deadline, but its length is not published.
    accept_within_seconds: None,
    polling: Some(Polling {
        style: PollStyle::Open,
        every_seconds: 15,
    }),
    look: true,
    // Not published; we rely on the platform's 429.
    limits: &[],
};

const OPERATIONS: Operations = Operations {
    menu: Some(menu::menu),
    read_store: Some(store::read_store),
    change_store: Some(store::change_store),
    read_hours: Some(hours::read_hours),
    write_hours: Some(hours::write_hours),
    change_items: Some(availability::change_items),
    change_prices: Some(prices::change_prices),
    ..Operations::NONE
};

impl Platform for Migros {
    fn provider(&self) -> Provider {
        Provider::new("migros")
    }

    fn name(&self) -> &'static str {
        "Migros Yemek"
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
                CredentialField::required(API_KEY, CredentialKind::Secret)
                    .given()
                    .called("API anahtarı", "API key"),
                CredentialField::required(SECRET_KEY, CredentialKind::Secret)
                    .given()
                    .called("Gizli anahtar (secretKey)", "Secret key"),
                CredentialField::optional(
                    KEY_DERIVATION,
                    CredentialKind::Choice(&[cipher::RAW, cipher::SHA256]),
                )
                .called("Anahtarın türetilme biçimi", "Key derivation"),
                // Polling alone brings every order, so a restaurant can start before Migros knows our addresses.
                CredentialField::optional(INBOUND_USER, CredentialKind::Plain).called(
                    "Migros'un kullanacağı kullanıcı adı",
                    "User name that Migros presents",
                ),
                CredentialField::optional(INBOUND_PASSWORD, CredentialKind::Secret)
                    .called("Migros'un kullanacağı parola", "Password that Migros presents"),
            ]
        }
    }

    fn branch_credentials(&self) -> &'static [&'static str] {
        &[API_KEY, SECRET_KEY]
    }

    fn settings(&self) -> &'static str {
        include_str!("settings.toml")
    }

    fn hooks(&self) -> &'static [HookRoute] {
        &[
            HookRoute {
                method: "POST",
                path: "/order-created",
                kind: ORDER_CREATED,
            },
            HookRoute {
                method: "POST",
                path: "/order-cancelled",
                kind: ORDER_CANCELLED,
            },
            HookRoute {
                method: "POST",
                path: "/delivery-status",
                kind: DELIVERY_STATUS,
            },
        ]
    }

    fn claim(&self, request: &HookRequest) -> Claim {
        verify::claim(request)
    }

    fn inbound_secret(&self, credentials: &Credentials) -> Option<Secret<Vec<u8>>> {
        verify::inbound_secret(credentials)
    }

    fn verify<'a>(&self, request: &'a HookRequest, credentials: &Credentials) -> Option<Verified<'a>> {
        verify::verify(request, credentials)
    }

    fn read(&self, message: &Verified<'_>) -> Result<Message, Unreadable> {
        read::read(message.request())
    }

    fn reply(&self, reception: &IntakeOutcome, request_id: &str) -> HookReply {
        outcome::reply(reception, request_id)
    }

    /// None are fixed: which reasons there are, only the platform knows.
    fn fixed_reasons(&self, _order: Option<&Order>) -> Vec<Reason> {
        Vec::new()
    }

    fn wants(&self, call: CallKind, order: &Order, _credentials: &Credentials) -> bool {
        write::wants(call, order)
    }

    fn write(&self, call_request: &CallRequest<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        write::write(call_request, link)
    }

    fn outcome(&self, _call: CallKind, link: &Link<'_>, response: &HttpResponse) -> Outcome {
        outcome::outcome(link, response)
    }

    fn word_after(&self, call: CallKind, order: &Order) -> Option<&'static str> {
        write::word_after(call, order)
    }

    fn look(&self, order: &Order, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        write::look(order, link)
    }

    fn looked(&self, link: &Link<'_>, response: &HttpResponse) -> Result<Vec<u8>, CallError> {
        outcome::looked(link, response)
    }

    fn poll(&self, link: &Link<'_>, _window: &Window, page: u32) -> Result<HttpRequest, PlatformError> {
        write::poll(link, page)
    }

    fn polled(&self, link: &Link<'_>, page: u32, response: &HttpResponse) -> Result<Page, CallError> {
        outcome::polled(link, page, response)
    }

    fn reasons(&self, _order: &Order, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        write::get(link, "/Mapping/v2/GetCancelReasons")
    }

    fn read_reasons(&self, link: &Link<'_>, response: &HttpResponse) -> Result<Vec<Reason>, CallError> {
        outcome::read_reasons(link, response)
    }
}

#[cfg(test)]
mod tests;
