//! `trendyol`: Trendyol Go's meal service, by its integrator hooks and by polling.

mod availability;
mod call_data;
mod menu;
mod names;
mod prices;
mod read;
mod reasons;
mod store;
mod verify;
mod wire;
mod write;

use self::names::{
    API_KEY, API_SECRET, BATCH, CANCELLED, COURIER_NEARBY, CREATED, DELIVERED, EXECUTOR_USER,
    INBOUND_HEADERS, INTEGRATOR_NAME, INVOICED, PACKAGE, PACKAGES, PICKED, PICKUP_ETA, PRICES,
    PRODUCT_STATUS, PRODUCTS, SELLER_CHANGED, SHIPPED, STORE_CHANGED, STORE_STATUS, STORES, SUPPLIER_ID,
    UNSUPPLIED, WORKING_HOURS,
};
use garson_core::field_problem::FieldProblem;
use garson_core::integration::Credentials;
use garson_core::order::{CallKind, Courier, Order, Reason};
use garson_core::platform::{
    CallError, CallRequest, Capability, Claim, CredentialField, CredentialKind, HookReply, HookRequest,
    HookRoute, HttpRequest, HttpResponse, IntakeOutcome, Limit, LimitScope, Link, Message, Operations,
    Outcome, Page, Platform, PlatformError, PollStyle, Polling, Provider, Unreadable, Verified, Window,
};
use garson_core::secret::Secret;

/// The connector of Trendyol Go's meal service.
#[derive(Clone, Copy, Debug)]
pub struct Trendyol;

const CAPABILITY: Capability = Capability {
    asks: true,
    own_ids: false,
    cancel_after_accept: true,
    live_reasons: false,
    menu: true,
    store: Some(store::SUPPORT),
    hours: Some(store::HOURS_SUPPORT),
    items: Some(availability::SUPPORT),
    prices: Some(prices::SUPPORT),
    catalog_push: None,
    couriers: &[Courier::Platform, Courier::Restaurant, Courier::None],
    seconds_between_moves: 0,
    // There is a deadline (reason 625), but not a public one.
    accept_within_seconds: None,
    polling: Some(Polling {
        style: PollStyle::Changes,
        every_seconds: 15,
    }),
    look: true,
    limits: &[
        each_endpoint(PACKAGES),
        each_endpoint(PACKAGE),
        each_endpoint(PICKED),
        each_endpoint(INVOICED),
        each_endpoint(SHIPPED),
        each_endpoint(DELIVERED),
        each_endpoint(UNSUPPLIED),
        each_endpoint(PRODUCTS),
        each_endpoint(STORES),
        each_endpoint(STORE_STATUS),
        each_endpoint(WORKING_HOURS),
        each_endpoint(PRODUCT_STATUS),
        each_endpoint(PRICES),
        each_endpoint(BATCH),
    ],
};

const fn each_endpoint(name: &'static str) -> Limit {
    Limit {
        name,
        requests: 50,
        per_seconds: 10,
        scope: LimitScope::Token,
        within: None,
    }
}

const fn event(path: &'static str, kind: &'static str) -> HookRoute {
    HookRoute {
        method: "POST",
        path,
        kind,
    }
}

const OPERATIONS: Operations = Operations {
    menu: Some(menu::menu),
    read_store: Some(store::read_store),
    change_store: Some(store::change_store),
    read_hours: Some(store::read_hours),
    write_hours: Some(store::write_hours),
    change_items: Some(availability::change_items),
    change_prices: Some(prices::change_prices),
    read_prices: Some(prices::read_prices),
    ..Operations::NONE
};

impl Platform for Trendyol {
    fn provider(&self) -> Provider {
        Provider::new("trendyol")
    }

    fn name(&self) -> &'static str {
        "Trendyol Go"
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
                // The branch (`supplierId:storeId`) says it too.
                CredentialField::optional(SUPPLIER_ID, CredentialKind::Plain)
                    .called("Satıcı numarası (supplierId)", "Supplier id"),
                CredentialField::required(API_KEY, CredentialKind::Secret)
                    .given()
                    .called("API anahtarı", "API key"),
                CredentialField::required(API_SECRET, CredentialKind::Secret)
                    .given()
                    .called("API gizli anahtarı", "API secret"),
                CredentialField::optional(INTEGRATOR_NAME, CredentialKind::Plain)
                    .called("Entegratör adı", "Integrator name"),
                CredentialField::optional(EXECUTOR_USER, CredentialKind::Plain)
                    .called("İşlemi yapan kullanıcı (e-posta)", "Executor user (e-mail)"),
                // Orders can be polled without hooks.
                CredentialField::optional(INBOUND_HEADERS, CredentialKind::Headers).called(
                    "Trendyol'un göndereceği başlıklar (JSON)",
                    "Headers that Trendyol sends (JSON)",
                ),
            ]
        }
    }

    fn check_branch(&self, branch: &str) -> Result<(), FieldProblem> {
        match branch.split_once(':') {
            Some((supplier, store)) if !supplier.is_empty() && !store.is_empty() && !store.contains(':') => {
                Ok(())
            }
            _ => Err(FieldProblem::NotSupplierAndStore),
        }
    }

    fn branch_credentials(&self) -> &'static [&'static str] {
        &[API_KEY, API_SECRET]
    }

    fn settings(&self) -> &'static str {
        include_str!("settings.toml")
    }

    fn hooks(&self) -> &'static [HookRoute] {
        const {
            &[
                event("/created", CREATED),
                event("/pickupEtaCalculated", PICKUP_ETA),
                event("/courierNearby", COURIER_NEARBY),
                event("/shipped", SHIPPED),
                event("/delivered", DELIVERED),
                event("/cancelled", CANCELLED),
                event("/unsupplied", UNSUPPLIED),
                event("/storeChanged", STORE_CHANGED),
                event("/sellerChanged", SELLER_CHANGED),
            ]
        }
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

    fn reply(&self, reception: &IntakeOutcome, _request_id: &str) -> HookReply {
        write::reply(reception)
    }

    fn fixed_reasons(&self, order: Option<&Order>) -> Vec<Reason> {
        reasons::fixed_reasons(order)
    }

    fn wants(&self, call: CallKind, order: &Order, _credentials: &Credentials) -> bool {
        write::wants(call, order)
    }

    fn takes_preparation_time(&self, _order: &Order) -> bool {
        true
    }

    fn write(&self, call_request: &CallRequest<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        write::write(call_request, link)
    }

    fn outcome(&self, call: CallKind, _link: &Link<'_>, response: &HttpResponse) -> Outcome {
        write::outcome(call, response)
    }

    fn word_after(&self, call: CallKind, _order: &Order) -> Option<&'static str> {
        write::word_after(call)
    }

    fn look(&self, order: &Order, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        write::look(order, link)
    }

    fn looked(&self, _link: &Link<'_>, response: &HttpResponse) -> Result<Vec<u8>, CallError> {
        write::looked(response)
    }

    fn poll(&self, link: &Link<'_>, window: &Window, page: u32) -> Result<HttpRequest, PlatformError> {
        write::poll(link, window, page)
    }

    fn polled(&self, _link: &Link<'_>, page: u32, response: &HttpResponse) -> Result<Page, CallError> {
        write::polled(page, response)
    }
}

#[cfg(test)]
mod tests;
