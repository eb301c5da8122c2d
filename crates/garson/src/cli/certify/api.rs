//! The requests of this command to the temporary service: as a shop that places orders, and as staff.

use super::super::command::CommandError;
use super::setup::Shop;
use crate::net::{Client, HeaderCase, Log, Outgoing};
use bytes::Bytes;
use garson_core::platform::Trust;
use garson_core::secret::Secret;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(30);
/// The detail of an order with 500 items is smaller.
const MAX_BODY: usize = 4 * 1024 * 1024;

pub struct Api {
    client: Client,
    address: SocketAddr,
    key: Secret<String>,
}

/// An order of a scenario.
#[derive(Clone, Debug)]
pub struct Placed {
    pub id: String,
    /// The platform's id.
    pub number: String,
}

type Answer = Result<(u16, Value), CommandError>;

impl Api {
    pub fn new(client: Client, address: SocketAddr, key: Secret<String>) -> Self {
        Self { client, address, key }
    }

    /// Places an order of the shop.
    pub async fn place(&self, shop: &Shop, body: &Value) -> Result<Placed, CommandError> {
        let (status, answer) = self.hook("/hooks/direct/orders", shop, body).await?;
        let id = answer["data"]["orderId"].as_str();
        let number = body["providerOrderId"].as_str();
        match (status, id, number) {
            (200, Some(id), Some(number)) => Ok(Placed {
                id: id.to_owned(),
                number: number.to_owned(),
            }),
            _ => Err(refused("a generated order", status, &answer)),
        }
    }

    /// Cancels an order of the shop on behalf of the customer.
    pub async fn cancel(&self, shop: &Shop, order: &Placed, note: &str) -> Result<(), CommandError> {
        let number = percent_encoded(&order.number);
        let body =
            json!({ "storeId": shop.store, "by": "customer", "reason": "customer_request", "note": note });
        let path = format!("/hooks/direct/orders/{number}/cancel");
        let (status, answer) = self.hook(&path, shop, &body).await?;
        match status {
            200 => Ok(()),
            _ => Err(refused("a cancellation", status, &answer)),
        }
    }

    /// The record id of an order; `None` while the service does not have it.
    pub async fn find(&self, number: &str) -> Result<Option<String>, CommandError> {
        let (_, answer) = self
            .call(Method::GET, &format!("/orders/{}", percent_encoded(number)))
            .await?;
        Ok(answer["data"]["id"].as_str().map(str::to_owned))
    }

    /// The status of an order.
    pub async fn status(&self, order: &Placed) -> Result<i64, CommandError> {
        let (status, answer) = self.call(Method::GET, &format!("/orders/{}", order.id)).await?;
        let found = answer["data"]["status"].as_i64();
        found.ok_or_else(|| refused("an order", status, &answer))
    }

    /// Verifies an order. An order that was accepted or cancelled in the meantime stays as it is.
    pub async fn verify(&self, order: &Placed) -> Result<(), CommandError> {
        self.act("verify", order).await
    }

    /// Moves an order to its next status.
    pub async fn advance(&self, order: &Placed) -> Result<(), CommandError> {
        self.act("change-status", order).await
    }

    async fn act(&self, action: &str, order: &Placed) -> Result<(), CommandError> {
        let (status, answer) = self
            .call(Method::POST, &format!("/orders/{action}/{}", order.id))
            .await?;
        match status {
            200 | 409 => Ok(()),
            _ => Err(refused(action, status, &answer)),
        }
    }

    async fn call(&self, method: Method, path: &str) -> Answer {
        let authorization = format!("Bearer {}", self.key.expose());
        let header = (header::AUTHORIZATION, Secret::new(authorization));
        self.send(method, &format!("/web-api/v1{path}"), header, None)
            .await
    }

    async fn hook(&self, path: &str, shop: &Shop, body: &Value) -> Answer {
        let header = (HeaderName::from_static("x-api-key"), shop.key.clone());
        self.send(Method::POST, path, header, Some(body)).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        (name, secret): (HeaderName, Secret<String>),
        body: Option<&Value>,
    ) -> Answer {
        let mut value = HeaderValue::from_str(secret.expose())?;
        value.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(name, value);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let outgoing = Outgoing {
            method,
            url: format!("http://{}{path}", self.address),
            headers,
            header_case: HeaderCase::default(),
            body: body.map(|body| Bytes::from(body.to_string())).unwrap_or_default(),
            trust: Trust::Operator,
            deadline: DEADLINE,
            keep_body: MAX_BODY,
            log: Log::Never,
            // Orders are identified by their id, and actions are repeated without effect.
            may_repeat: true,
        };
        let answer = self
            .client
            .send(outgoing)
            .await
            .map_err(|error| CommandError(format!("the temporary service cannot be reached: {error}")))?;
        let body = serde_json::from_slice(&answer.body).unwrap_or_default();
        Ok((answer.status, body))
    }
}

fn refused(what: &str, status: u16, answer: &Value) -> CommandError {
    let message = answer["error"]["message"].as_str().unwrap_or("no message");
    CommandError(format!(
        "the temporary service refused {what}: {status} {message}"
    ))
}

/// A path segment.
fn percent_encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    text.bytes()
        .map(|byte| {
            if plain(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_segment_is_encoded() {
        assert_eq!(percent_encoded("A-1/ş?"), "A-1%2F%C5%9F%3F");
    }
}
