//! `getir`: Getir Yemek, which pushes its orders and expects a call for every step.

mod availability;
mod hours;
mod lines;
mod menu;
mod names;
mod outcome;
mod payment;
mod prices;
mod read;
mod store;
mod verify;
mod wire;
mod write;

use self::names::{
    APP_KEY, CANCEL_ORDER, CHAIN_MENU_ID, COURIER_ARRIVAL, NEW_ORDER, OPTION_CALLS, OPTION_CALLS_BY_PRODUCT,
    RESTAURANT_KEY, RESTAURANT_STATUS,
};
use crate::common::api_key::INBOUND_KEY;
use garson_core::explanation::PlatformTask;
use garson_core::integration::Credentials;
use garson_core::order::{CallKind, Courier, Order, Reason};
use garson_core::platform::{
    CallError, CallRequest, Capability, Claim, CredentialField, CredentialKind, HookReply, HookRequest,
    HookRoute, HttpRequest, HttpResponse, IntakeOutcome, Limit, LimitScope, Link, Message, Operations,
    Outcome, Page, Platform, PlatformError, PollStyle, Polling, Provider, Session, Unreadable, Verified,
    Window,
};
use garson_core::secret::Secret;

/// The connector of Getir Yemek.
#[derive(Clone, Copy, Debug)]
pub struct Getir;

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
    seconds_between_moves: 60,
    accept_within_seconds: Some(300),
    polling: Some(Polling {
        style: PollStyle::Open,
        every_seconds: 60,
    }),
    look: true,
    limits: &[
        limit(write::DEFAULT, 300, 60),
        limit(write::CONFIG, 2, 60),
        limit(write::OPTION_PRODUCTS, 2, 60),
        limit(write::CANCEL_OPTIONS, 40, 600),
        limit(write::RESTAURANT, 2, 60),
        limit(write::STATUS, 2, 60),
        limit(write::BUSYNESS, 2, 60),
        limit(write::HOURS, 2, 60),
        // Sources differ: 300 in a minute for all items, or 3 for each. Both are kept.
        Limit {
            scope: LimitScope::Path,
            within: Some(write::DEFAULT),
            ..limit(write::ITEM_STATUS, 3, 60)
        },
    ],
};

const fn limit(name: &'static str, requests: u32, per_seconds: u32) -> Limit {
    Limit {
        name,
        requests,
        per_seconds,
        scope: LimitScope::Token,
        within: None,
    }
}

const OPERATIONS: Operations = Operations {
    menu: Some(menu::menu),
    read_store: Some(store::read_store),
    change_store: Some(store::change_store),
    read_hours: Some(hours::read_hours),
    write_hours: Some(hours::write_hours),
    change_items: Some(availability::change_items),
    read_item: Some(availability::read_item),
    change_prices: Some(prices::change_prices),
    ..Operations::NONE
};

impl Platform for Getir {
    fn provider(&self) -> Provider {
        Provider::new("getir")
    }

    fn name(&self) -> &'static str {
        "Getir Yemek"
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
                CredentialField::required(APP_KEY, CredentialKind::Secret)
                    .given()
                    .called("Uygulama anahtarı (appSecretKey)", "App key (appSecretKey)"),
                CredentialField::required(RESTAURANT_KEY, CredentialKind::Secret)
                    .given()
                    .called(
                        "Restoran anahtarı (restaurantSecretKey)",
                        "Restaurant key (restaurantSecretKey)",
                    ),
                CredentialField::required(INBOUND_KEY, CredentialKind::Secret).called(
                    "Getir'in göndereceği anahtar (x-api-key)",
                    "Key that Getir sends (x-api-key)",
                ),
                // Only chains have one: with it, prices can be changed for the whole chain.
                CredentialField::optional(CHAIN_MENU_ID, CredentialKind::Plain).called(
                    "Zincir menü numarası (yalnızca zincirler)",
                    "Chain menu id (chains only)",
                ),
            ]
        }
    }

    fn branch_credentials(&self) -> &'static [&'static str] {
        &[RESTAURANT_KEY]
    }

    fn settings(&self) -> &'static str {
        include_str!("settings.toml")
    }

    fn hooks(&self) -> &'static [HookRoute] {
        &[
            HookRoute {
                method: "POST",
                path: "/new-order",
                kind: NEW_ORDER,
            },
            HookRoute {
                method: "POST",
                path: "/cancel-order",
                kind: CANCEL_ORDER,
            },
            HookRoute {
                method: "POST",
                path: "/restaurant-status",
                kind: RESTAURANT_STATUS,
            },
            HookRoute {
                method: "POST",
                path: "/courier-arrival",
                kind: COURIER_ARRIVAL,
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
        write::reply(reception, request_id)
    }

    /// None: the reasons are requested for each order.
    fn fixed_reasons(&self, _order: Option<&Order>) -> Vec<Reason> {
        Vec::new()
    }

    fn wants(&self, call: CallKind, order: &Order, _credentials: &Credentials) -> bool {
        write::wants(call, order)
    }

    fn write(&self, call_request: &CallRequest<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        write::write(call_request, link)
    }

    fn outcome(&self, call: CallKind, _link: &Link<'_>, response: &HttpResponse) -> Outcome {
        outcome::outcome(call, response)
    }

    fn word_after(&self, call: CallKind, order: &Order) -> Option<&'static str> {
        write::word_after(call, order)
    }

    fn login(&self, link: &Link<'_>) -> Result<Option<HttpRequest>, PlatformError> {
        write::login(link).map(Some)
    }

    fn session(&self, response: &HttpResponse) -> Result<Session, CallError> {
        outcome::session(response)
    }

    fn enlist(&self, link: &Link<'_>) -> Result<Option<HttpRequest>, PlatformError> {
        write::enlist(link).map(Some)
    }

    fn look(&self, order: &Order, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        write::look(order, link)
    }

    fn looked(&self, _link: &Link<'_>, response: &HttpResponse) -> Result<Vec<u8>, CallError> {
        outcome::looked(response)
    }

    fn poll(&self, link: &Link<'_>, _window: &Window, page: u32) -> Result<HttpRequest, PlatformError> {
        write::poll(link, page)
    }

    fn polled(&self, _link: &Link<'_>, page: u32, response: &HttpResponse) -> Result<Page, CallError> {
        outcome::polled(page, response)
    }

    fn reasons(&self, order: &Order, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        write::reasons(order, link)
    }

    fn read_reasons(&self, _link: &Link<'_>, response: &HttpResponse) -> Result<Vec<Reason>, CallError> {
        outcome::read_reasons(response)
    }

    fn is_enabled(&self, task: PlatformTask, credentials: &Credentials) -> bool {
        let value = |name: &str| credentials.get(name).map(|value| value.expose().trim());
        match task {
            PlatformTask::ChangeOptions => value(OPTION_CALLS) == Some(OPTION_CALLS_BY_PRODUCT),
            PlatformTask::ChangePrices | PlatformTask::ChangeOptionPrices | PlatformTask::ManyPrices => {
                value(CHAIN_MENU_ID).is_some_and(|id| !id.is_empty())
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
