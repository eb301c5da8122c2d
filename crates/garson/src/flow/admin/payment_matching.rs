//! Payment matching: the POS's own payment types beside the platforms'.

use super::matching_problem::MatchingProblem;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::manual_sends;
use crate::flow::{By, Fault};
use crate::net::headers::check_headers;
use crate::net::{HeaderCase, Log, Outgoing, SendError};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::platform::Trust;
use garson_core::restaurant::PaymentMatch;
use garson_core::secret::Secret;
use garson_store::tables::restaurants;
use http::{HeaderMap, Method};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// One of the POS's own payment types.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct PosPaymentType {
    #[serde(deserialize_with = "text_or_number")]
    pub id: String,
    pub name: String,
}

/// Many a POS numbers its payment types.
fn text_or_number<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Id {
        Text(String),
        Number(i64),
    }
    Ok(match Id::deserialize(from)? {
        Id::Text(text) => text,
        Id::Number(number) => number.to_string(),
    })
}

/// What the POS offers, and what is matched to it.
pub struct Matching {
    pub types: Vec<PosPaymentType>,
    /// Why the POS's types are not known.
    pub problem: Option<MatchingProblem>,
    pub matches: Vec<PaymentMatch>,
}

const DEADLINE: Duration = Duration::from_secs(10);
const MAX_ANSWER: usize = 256 * 1024;
const MAX_TYPES: usize = 500;

/// Asks the restaurant's POS for its payment types and shows them with the current matches. A POS that is away is
/// said to be; the matches are shown all the same. It counts like an event that is sent by hand.
pub async fn show(app: &App, account: AccountId, id: RestaurantId) -> Result<Matching, Fault> {
    let vault = Arc::clone(&app.vault);
    let (restaurant, matches) = app
        .store
        .read(move |tx| {
            let restaurant = restaurants::find(tx, &vault, account, id)?;
            let restaurant = restaurant.ok_or_else(|| Fault::not_found(Thing::Restaurant, id))?;
            Ok::<_, Fault>((restaurant, restaurants::payment_matches(tx, id)?))
        })
        .await?;
    let Some(url) = restaurant.fields.payment_matching_url else {
        let problem = Some(MatchingProblem::NoUrl);
        return Ok(Matching {
            types: Vec::new(),
            problem,
            matches,
        });
    };
    let _slot = manual_sends::slot(app, account)?;
    match ask(
        app,
        account,
        url,
        restaurant.fields.payment_matching_headers.as_ref(),
    )
    .await
    {
        Ok(types) => Ok(Matching {
            types,
            problem: None,
            matches,
        }),
        Err(problem) => Ok(Matching {
            types: Vec::new(),
            problem: Some(problem),
            matches,
        }),
    }
}

async fn ask(
    app: &App,
    account: AccountId,
    url: String,
    headers: Option<&Secret<String>>,
) -> Result<Vec<PosPaymentType>, MatchingProblem> {
    let outgoing = Outgoing {
        method: Method::GET,
        url,
        headers: request_headers(headers)?,
        header_case: HeaderCase::default(),
        body: bytes::Bytes::new(),
        trust: Trust::Account,
        deadline: DEADLINE,
        keep_body: MAX_ANSWER,
        log: Log::Every,
        may_repeat: false,
    };
    let net = app.net.on_behalf_of(account);
    let answer = net.send(outgoing).await.map_err(|error| match error {
        SendError::NotAllowed(refusal) => MatchingProblem::NotAllowed(refusal),
        other => MatchingProblem::Unreachable(other.explanation()),
    })?;
    if !(200..300).contains(&answer.status) {
        let status = answer.status;
        return Err(MatchingProblem::Answered { status });
    }
    let types: Vec<PosPaymentType> =
        serde_json::from_slice(&answer.body).map_err(|_| MatchingProblem::NotAList)?;
    Ok(types.into_iter().take(MAX_TYPES).collect())
}

fn request_headers(headers: Option<&Secret<String>>) -> Result<HeaderMap, MatchingProblem> {
    let Some(json) = headers else {
        return Ok(HeaderMap::new());
    };
    let pairs: BTreeMap<String, String> =
        serde_json::from_str(json.expose()).map_err(|_| MatchingProblem::HeadersDamaged)?;
    check_headers(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))).map_err(|refusal| {
        MatchingProblem::Header {
            name: refusal.name,
            problem: refusal.problem,
        }
    })
}

/// Replaces the matches.
pub async fn set(
    app: &App,
    by: By,
    id: RestaurantId,
    matches: Vec<PaymentMatch>,
) -> Result<Vec<PaymentMatch>, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            if !restaurants::lock(tx, account, id)? {
                return Err(Fault::not_found(Thing::Restaurant, id));
            }
            let before = restaurants::payment_matches(tx, id)?;
            restaurants::set_payment_matches(tx, id, &matches)?;
            let action = Recorded::new(RecordKind::PaymentMatching, Verb::Changed)
                .id(id)
                .restaurant(id);
            by.record(
                tx,
                action.change(json!({ "matches": before }), json!({ "matches": matches })),
                now,
            );
            Ok(matches.clone())
        })
        .await
}
