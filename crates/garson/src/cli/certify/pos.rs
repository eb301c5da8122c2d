//! The POS under test, as the sender of events sees it.

use super::super::check_receiver::endpoint::{Endpoint, Reply, headers};
use crate::flow::deliver::signature::Signer;
use crate::net::SendError;
use garson_core::clock::{Clock, SystemClock};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use http::HeaderMap;
use std::time::Duration;

pub struct Pos {
    pub endpoint: Endpoint,
    signer: Option<Signer>,
}

impl Pos {
    pub fn new(endpoint: Endpoint, signer: Option<Signer>) -> Self {
        Self { endpoint, signer }
    }

    /// Are events signed?
    pub fn is_signed(&self) -> bool {
        self.signer.is_some()
    }

    /// Headers with the right key, and a signature as of `at` where events are signed.
    fn headers(&self, id: &str, body: &str, at: Timestamp) -> Result<HeaderMap, SendError> {
        let mut headers = headers(Some(self.endpoint.authorization()))?;
        if let Some(signer) = &self.signer {
            signer.sign(&mut headers, id, body, at);
        }
        Ok(headers)
    }

    /// Sends an event as Garson does.
    pub async fn post(&self, id: &str, body: &str) -> Reply {
        self.post_signed_as(id, body, body, SystemClock.now()).await
    }

    /// Sends a body with the signature of another body or time.
    pub async fn post_signed_as(&self, id: &str, body: &str, signed: &str, at: Timestamp) -> Reply {
        match self.headers(id, signed, at) {
            Ok(headers) => self.endpoint.post_as(body.to_owned(), headers).await,
            Err(error) => unsent(error),
        }
    }

    /// Sends an event with another key, or without one, but with the right signature.
    pub async fn post_with_key(&self, id: &str, body: &str, authorization: Option<Secret<String>>) -> Reply {
        match headers(authorization) {
            Ok(mut headers) => {
                if let Some(signer) = &self.signer {
                    signer.sign(&mut headers, id, body, SystemClock.now());
                }
                self.endpoint.post_as(body.to_owned(), headers).await
            }
            Err(error) => unsent(error),
        }
    }

    /// Sends an event without a signature.
    pub async fn post_unsigned(&self, body: &str) -> Reply {
        self.endpoint.post(body.to_owned()).await
    }

    /// Sends an event in small pieces; `true` if it was answered before all of it was sent.
    pub async fn post_slowly(&self, id: &str, body: &str) -> (Reply, bool) {
        match self.headers(id, body, SystemClock.now()) {
            Ok(headers) => self.endpoint.post_in_pieces(body, headers).await,
            Err(error) => (unsent(error), false),
        }
    }
}

fn unsent(error: SendError) -> Reply {
    Reply {
        result: Err(error),
        took: Duration::ZERO,
    }
}
