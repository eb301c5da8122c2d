//! `direct`: the restaurant's own channels (web shop, app, phone), in a format that we define.

mod names;
mod read;
mod reasons;
mod verify;
mod wire;
mod write;

use self::names::{CALLBACK_URL, CANCEL, NEW_ORDER};
use self::reasons::REASONS;
use crate::common::api_key::INBOUND_KEY;
use garson_core::integration::Credentials;
use garson_core::order::{CallKind, Courier, Order, Reason};
use garson_core::platform::{
    CallRequest, Capability, Claim, CredentialField, CredentialKind, HookReply, HookRequest, HookRoute,
    HttpRequest, HttpResponse, IntakeOutcome, Link, Message, Outcome, Platform, PlatformError, Provider,
    Unreadable, Verified,
};
use garson_core::secret::Secret;

/// The connector of the restaurant's own channels.
#[derive(Clone, Copy, Debug)]
pub struct Direct;

const CAPABILITY: Capability = Capability {
    asks: false,
    own_ids: true,
    cancel_after_accept: true,
    live_reasons: false,
    menu: false,
    store: None,
    hours: None,
    items: None,
    prices: None,
    catalog_push: None,
    couriers: &[Courier::Restaurant, Courier::None],
    seconds_between_moves: 0,
    accept_within_seconds: None,
    polling: None,
    look: false,
    limits: &[],
};

impl Platform for Direct {
    fn provider(&self) -> Provider {
        Provider::new("direct")
    }

    fn name(&self) -> &'static str {
        "Own channels"
    }

    fn capability(&self) -> &'static Capability {
        &CAPABILITY
    }

    fn credential_fields(&self) -> &'static [CredentialField] {
        const {
            &[
                CredentialField::required(INBOUND_KEY, CredentialKind::Secret).called(
                    "Mağazanın göndereceği anahtar (x-api-key)",
                    "Key that the shop sends (x-api-key)",
                ),
                CredentialField::optional(CALLBACK_URL, CredentialKind::Address).called(
                    "Durumların bildirileceği adres",
                    "Address that is told of changes",
                ),
            ]
        }
    }

    fn hooks(&self) -> &'static [HookRoute] {
        &[
            HookRoute {
                method: "POST",
                path: "/orders",
                kind: NEW_ORDER,
            },
            HookRoute {
                method: "POST",
                path: "/orders/{providerOrderId}/cancel",
                kind: CANCEL,
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

    fn fixed_reasons(&self, _order: Option<&Order>) -> Vec<Reason> {
        REASONS
            .iter()
            .map(|(id, name)| Reason {
                id: (*id).to_owned(),
                name: (*name).to_owned(),
            })
            .collect()
    }

    fn wants(&self, call: CallKind, _order: &Order, credentials: &Credentials) -> bool {
        matches!(call, CallKind::Tell(_)) && credentials.contains_key(CALLBACK_URL)
    }

    fn write(&self, call_request: &CallRequest<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
        write::write(call_request, link)
    }

    fn outcome(&self, _call: CallKind, _link: &Link<'_>, response: &HttpResponse) -> Outcome {
        write::outcome(response)
    }
}

#[cfg(test)]
mod tests;
