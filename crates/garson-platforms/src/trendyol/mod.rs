//! `trendyol`: Trendyol Go's meal service, by its integrator hooks and by polling.

mod menu;
mod read;
mod verify;
mod wire;
mod write;

use garson_core::field_problem::FieldProblem;
use garson_core::integration::Credentials;
use garson_core::order::{CallKind, Courier, Order, Reason};
use garson_core::platform::{
    Capability, Claim, CredentialField, CredentialKind, Errand, HookReply, HookRequest, HookRoute,
    HttpRequest, HttpResponse, Limit, Link, MenuStep, Message, Outcome, Page, Platform, PlatformError,
    PollStyle, Polling, Provider, Reception, Trouble, Unreadable, Verified, Window,
};
use garson_core::secret::Secret;

/// The dialect of Trendyol Go's meal service.
#[derive(Clone, Copy, Debug)]
pub struct Trendyol;

// Events; each has its own way in, since their bodies do not name them.
const CREATED: &str = "created";
const PICKUP_ETA: &str = "pickupEtaCalculated";
const COURIER_NEARBY: &str = "courierNearby";
const SHIPPED: &str = "shipped";
const DELIVERED: &str = "delivered";
const CANCELLED: &str = "cancelled";
const UNSUPPLIED: &str = "unsupplied";
const STORE_CHANGED: &str = "storeChanged";
const SELLER_CHANGED: &str = "sellerChanged";

// Limits that are named after nothing else.
const PACKAGES: &str = "packages";
const PACKAGE: &str = "package";
const PICKED: &str = "picked";
const INVOICED: &str = "invoiced";
const PRODUCTS: &str = "products";

const SUPPLIER_ID: &str = "supplierId";
const API_KEY: &str = "apiKey";
const API_SECRET: &str = "apiSecret";
const INTEGRATOR_NAME: &str = "integratorName";
const EXECUTOR_USER: &str = "executorUser";
const INBOUND_HEADERS: &str = "inboundHeaders";

const CAPABILITY: Capability = Capability {
    asks: true,
    own_ids: false,
    cancel_after_accept: true,
    live_reasons: false,
    menu: true,
    store_toggle: true,
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
    ],
};

const fn each_endpoint(name: &'static str) -> Limit {
    Limit {
        name,
        requests: 50,
        per_seconds: 10,
    }
}

/// Why a package ended. The flag says for which couriers the restaurant may give it as a reason.
const REASONS: [(&str, &str, Given); 14] = [
    ("621", "A product cannot be supplied", Given::Always),
    ("622", "The store is closed", Given::Always),
    ("623", "The store cannot prepare the order", Given::Always),
    ("624", "High demand, or no courier", Given::ByOwnCourier),
    ("626", "Outside the delivery area", Given::ByOwnCourier),
    ("627", "Orders were mixed up", Given::Always),
    ("625", "The restaurant did not accept the order", Given::Never),
    ("69", "Fraud, found by the system", Given::Never),
    ("601", "Wrong address", Given::Never),
    ("602", "Nobody at the address", Given::Never),
    ("603", "Fraud", Given::Never),
    ("604", "Cancelled by the customer", Given::Never),
    ("605", "Too late", Given::Never),
    ("607", "The address does not match", Given::Never),
];

/// When the restaurant may give a reason.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    Always,
    ByOwnCourier,
    /// It is the platform's.
    Never,
}

fn reason_name(id: &str) -> Option<&'static str> {
    REASONS
        .iter()
        .find(|(known, _, _)| *known == id)
        .map(|(_, name, _)| *name)
}

fn fixed_reasons(order: Option<&Order>) -> Vec<Reason> {
    let courier = order.and_then(write::courier);
    let fits = |given: Given| match given {
        Given::Always => true,
        Given::ByOwnCourier => courier.is_none_or(|courier| courier == Courier::Restaurant),
        Given::Never => false,
    };
    REASONS
        .iter()
        .filter(|(_, _, given)| fits(*given))
        .map(|(id, name, _)| Reason {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
        })
        .collect()
}

/// Couriers as they are kept with an order.
const COURIERS: [(Courier, &str); 3] = [
    (Courier::Platform, "platform"),
    (Courier::Restaurant, "restaurant"),
    (Courier::None, "none"),
];

fn courier_word(courier: Courier) -> &'static str {
    COURIERS
        .iter()
        .find(|(known, _)| *known == courier)
        .map_or("", |(_, word)| *word)
}

fn courier_of(word: &str) -> Option<Courier> {
    COURIERS
        .iter()
        .find(|(_, known)| *known == word)
        .map(|(courier, _)| *courier)
}

const fn event(path: &'static str, kind: &'static str) -> HookRoute {
    HookRoute {
        method: "POST",
        path,
        kind,
    }
}

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

    fn reply(&self, reception: &Reception, _request_id: &str) -> HookReply {
        write::reply(reception)
    }

    fn fixed_reasons(&self, order: Option<&Order>) -> Vec<Reason> {
        fixed_reasons(order)
    }

    fn wants(&self, call: CallKind, order: &Order, _credentials: &Credentials) -> bool {
        write::wants(call, order)
    }

    fn write(&self, errand: &Errand<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        write::write(errand, link)
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

    fn looked(&self, _link: &Link<'_>, response: &HttpResponse) -> Result<Vec<u8>, Trouble> {
        write::looked(response)
    }

    fn poll(&self, link: &Link<'_>, window: &Window, page: u32) -> Result<HttpRequest, PlatformError> {
        write::poll(link, window, page)
    }

    fn polled(&self, _link: &Link<'_>, page: u32, response: &HttpResponse) -> Result<Page, Trouble> {
        write::polled(page, response)
    }

    fn menu(&self, link: &Link<'_>, answers: &[HttpResponse]) -> Result<MenuStep, PlatformError> {
        menu::menu(link, answers)
    }
}

#[cfg(test)]
mod tests;
