//! Opening, closing and busy mode of stores, from the strip of the board or the page of a restaurant.
//!
//! The script of the board posts the form in the background and shows the strip of the answer.

use crate::app::store_overview::{RestaurantStores, ShownStore};
use crate::flow::Fault;
use crate::flow::stores;
use crate::flow::stores::{RequestResult, RequestedEnd, StoreRequest};
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{chosen_restaurant, restaurant_id};
use crate::panel::components::store_state::answer;
use crate::panel::components::store_strip::{MAX_AT_ONCE, REASONS, StoreStrip};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::format;
use crate::panel::kit::layout::fragment;
use crate::panel::kit::redirect::safe_path;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::{Lang, StoreWords};
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::future::join_all;
use garson_core::id::RestaurantId;
use garson_core::platform::Provider;
use garson_core::store_control::{DesiredState, Requester};
use garson_core::store_status::ReasonCode;
use http::StatusCode;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route("/board/stores", post(change_stores))
}

const MAX_NOTE: usize = 200;
const MAX_MINUTES: u32 = 30 * 24 * 60;
/// The value of the choice of all restaurants.
const ALL: &str = "all";

/// The request of the pressed button.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pressed {
    state: DesiredState,
    end: Option<RequestedEnd>,
    busy_minutes: Option<u32>,
    reason: Option<ReasonCode>,
    note: Option<String>,
}

impl Pressed {
    fn read(t: &StoreWords, fields: &FormData) -> Result<Self, &'static str> {
        let given = fields.get("do");
        let (action, value) = given.split_once(':').unwrap_or((given, ""));
        let minutes = |text: &str| -> Result<u32, &'static str> {
            let minutes = text.parse().ok();
            minutes
                .filter(|minutes| (1..=MAX_MINUTES).contains(minutes))
                .ok_or(t.wrong_minutes)
        };
        let (state, end, busy_minutes) = match (action, value) {
            ("open", "") => (DesiredState::Open, None, None),
            ("busy", value) => (DesiredState::Busy, None, Some(minutes(value)?)),
            ("close", "") => (DesiredState::Closed, None, None),
            ("close", "next_opening") => (DesiredState::Closed, Some(RequestedEnd::NextOpening), None),
            ("close", "minutes") => {
                let end = RequestedEnd::Minutes(minutes(fields.get("minutes"))?);
                (DesiredState::Closed, Some(end), None)
            }
            ("close", value) => (
                DesiredState::Closed,
                Some(RequestedEnd::Minutes(minutes(value)?)),
                None,
            ),
            _ => return Err(t.failed),
        };
        let reason: Option<ReasonCode> = fields.get("reason").parse().ok();
        let reason = reason.filter(|code| REASONS.contains(code) && state != DesiredState::Open);
        let note = fields
            .non_empty("note")
            .filter(|_| state != DesiredState::Open)
            .map(|note| note.chars().take(MAX_NOTE).collect());
        Ok(Self {
            state,
            end,
            busy_minutes,
            reason: reason.or(note.as_ref().map(|_: &String| ReasonCode::Other)),
            note,
        })
    }

    fn request(&self, providers: Vec<Provider>) -> StoreRequest {
        StoreRequest {
            state: self.state,
            end: self.end,
            busy_minutes: self.busy_minutes,
            reason: self.reason,
            note: self.note.clone(),
            providers: Some(providers),
            requester: Requester::Panel,
        }
    }
}

/// Why nothing was requested: the user can correct it, or it is an error page.
enum Failure {
    Text(String),
    Page(PanelError),
}

impl From<&'static str> for Failure {
    fn from(text: &'static str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// The result of a request for a restaurant.
struct Outcome {
    restaurant: String,
    results: Vec<(Provider, RequestResult)>,
}

async fn change_stores(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let done = match change(&api, &user, &fields).await {
        Ok(outcomes) => Ok(outcomes),
        Err(Failure::Text(text)) => Err(text),
        Err(Failure::Page(error)) => return Err(error),
    };
    let back = safe_path(fields.get("back"));
    if user.wants_fragment {
        return strip(&api, &user, back, done.err()).await;
    }
    Ok(match done {
        Err(text) => user.redirect_with_error(back, text),
        Ok(outcomes) => {
            let text = summary(user.lang, &outcomes);
            let mut results = outcomes.iter().flat_map(|it| &it.results);
            if results.any(|(_, result)| matches!(result, RequestResult::Refused(_))) {
                user.redirect_with_error(back, text)
            } else {
                user.redirect_with_notice(back, text)
            }
        }
    })
}

async fn change(api: &HttpState, user: &CurrentUser, fields: &FormData) -> Result<Vec<Outcome>, Failure> {
    let t = StoreWords::of(user.lang);
    let fail = |fault: Fault| Failure::Page(user.fail(fault));
    let chosen = chosen_stores(api, user, fields, &t).await?;
    let pressed = Pressed::read(&t, fields)?;
    let platforms: Vec<&str> = fields.all("platform").collect();
    // Reopening everything has no platforms selected.
    let is_named = |store: &&ShownStore| {
        platforms.contains(&store.provider.as_str())
            || platforms.is_empty() && pressed.state == DesiredState::Open
    };
    let has_busy =
        |store: &&ShownStore| pressed.state != DesiredState::Busy || !store.support.busy_minutes.is_empty();
    if platforms.is_empty() && pressed.state != DesiredState::Open {
        return Err(t.no_platform.into());
    }
    if pressed.end == Some(RequestedEnd::NextOpening) {
        for it in &chosen {
            let hours = stores::get_hours(&api.app, user.account.id, it.id)
                .await
                .map_err(fail)?;
            if hours
                .hours
                .is_none_or(|hours| hours.next_opening_after(api.app.now()).is_none())
            {
                return Err(Failure::Text(format!("{}: {}", it.name, t.needs_hours)));
            }
        }
    }
    let requests: Vec<(&RestaurantStores, StoreRequest)> = chosen
        .iter()
        .filter_map(|it| {
            let stores = it.stores.iter().filter(is_named).filter(has_busy);
            let providers: Vec<Provider> = stores.map(|store| store.provider).collect();
            (!providers.is_empty()).then(|| (it, pressed.request(providers)))
        })
        .collect();
    if requests.is_empty() {
        return Err(if pressed.state == DesiredState::Busy {
            t.no_busy.into()
        } else {
            t.no_platform.into()
        });
    }
    let changes = requests.into_iter().map(|(it, request)| async move {
        let changed = stores::change(&api.app, user.by(), it.id, request).await?;
        Ok::<_, Fault>(Outcome {
            restaurant: it.name.clone(),
            results: changed
                .into_iter()
                .map(|(view, result)| (view.integration.provider, result))
                .collect(),
        })
    });
    join_all(changes)
        .await
        .into_iter()
        .collect::<Result<_, Fault>>()
        .map_err(fail)
}

/// The stores of the chosen restaurant, or of all.
async fn chosen_stores(
    api: &HttpState,
    user: &CurrentUser,
    fields: &FormData,
    t: &StoreWords,
) -> Result<Vec<RestaurantStores>, Failure> {
    let given = fields.get("restaurant");
    if given.is_empty() {
        return Err(t.no_restaurant.into());
    }
    let only: Option<RestaurantId> = if given == ALL {
        None
    } else {
        Some(restaurant_id(user, given).map_err(Failure::Page)?)
    };
    let found = stores::overview(&api.app, user.account.id, only)
        .await
        .map_err(|fault| Failure::Page(user.fail(fault)))?
        .restaurants;
    let own = found.iter().filter(|it| user.scope().has(it.id)).cloned();
    let found: Vec<RestaurantStores> = own.collect();
    match only {
        Some(id) if found.is_empty() => {
            // It belongs to another account, or has no stores that can be controlled.
            stores::get(&api.app, user.account.id, id)
                .await
                .map_err(|fault| Failure::Page(user.fail(fault)))?;
            Err(t.no_platform.into())
        }
        None if found.len() > MAX_AT_ONCE => Err(t.no_restaurant.into()),
        _ => Ok(found),
    }
}

/// The strip of the board that the form was sent from.
async fn strip(
    api: &HttpState,
    user: &CurrentUser,
    back: &str,
    problem: Option<String>,
) -> Result<Response, PanelError> {
    let query = back.split_once('?').map_or("", |(_, query)| query);
    let only = chosen_restaurant(user, &FormData::parse(query.as_bytes()))?;
    // It must contain the change.
    let found = stores::overview_now(&api.app, user.account.id, only)
        .await
        .map_err(|fault| user.fail(fault))?;
    let strip = StoreStrip::new(user.lang, &user.csrf, back, &found, api.app.now());
    Ok(match problem {
        None => fragment(&strip),
        Some(problem) => (
            StatusCode::UNPROCESSABLE_ENTITY,
            fragment(&strip.with_problem(problem)),
        )
            .into_response(),
    })
}

/// The results in a line, such as “Getir, Migros: tamam. Trendyol: kabul edilmedi”.
fn summary(lang: Lang, outcomes: &[Outcome]) -> String {
    let t = StoreWords::of(lang);
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for Outcome { restaurant, results } in outcomes {
        for (provider, result) in results {
            let text = result_text(&t, lang, result);
            let mut name = format::provider(lang, *provider);
            if outcomes.len() > 1 {
                name = format!("{restaurant} {name}");
            }
            match lines.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(name),
                None => lines.push((text, vec![name])),
            }
        }
    }
    let lines: Vec<String> = lines
        .into_iter()
        .map(|(text, names)| format!("{}: {text}.", names.join(", ")))
        .collect();
    lines.join(" ")
}

fn result_text(t: &StoreWords, lang: Lang, result: &RequestResult) -> String {
    match result {
        RequestResult::Done => t.done.to_owned(),
        RequestResult::Pending(None) => t.pending.to_owned(),
        RequestResult::Pending(Some(why)) => format!("{} ({})", t.pending, answer(lang, why)),
        RequestResult::Refused(Some(why)) => answer(lang, why),
        RequestResult::Refused(None) => t.failed.to_owned(),
        RequestResult::Unsupported => t.unsupported.to_owned(),
        RequestResult::Replaced => t.replaced.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::explanation::Explanation;

    fn read(body: &str) -> Result<Pressed, &'static str> {
        Pressed::read(&StoreWords::of(Lang::Tr), &FormData::parse(body.as_bytes()))
    }

    #[test]
    fn buttons_ask_for_a_state_and_an_end() {
        let ends = |body| read(body).map(|it| (it.state, it.end));
        let minutes = |count| Some(RequestedEnd::Minutes(count));
        assert_eq!(ends("do=close:30"), Ok((DesiredState::Closed, minutes(30))));
        assert_eq!(ends("do=close"), Ok((DesiredState::Closed, None)));
        assert_eq!(
            ends("do=close:next_opening"),
            Ok((DesiredState::Closed, Some(RequestedEnd::NextOpening)))
        );
        assert_eq!(
            ends("do=close:minutes&minutes=90"),
            Ok((DesiredState::Closed, minutes(90)))
        );
        assert_eq!(ends("do=open"), Ok((DesiredState::Open, None)));
        assert_eq!(read("do=busy:30").unwrap().busy_minutes, Some(30));
        for wrong in [
            "do=close:0",
            "do=close:minutes",
            "do=close:-3",
            "do=close:43201",
            "do=x",
            "",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn own_words_are_another_reason_and_opening_has_none() {
        let closed = read("do=close&note=F%C4%B1r%C4%B1n").unwrap();
        assert_eq!(
            (closed.reason, closed.note.as_deref()),
            (Some(ReasonCode::Other), Some("Fırın"))
        );
        let busy = read("do=busy:15&reason=kitchen_busy").unwrap();
        assert_eq!(busy.reason, Some(ReasonCode::KitchenBusy));
        // A platform's reason cannot be given.
        assert_eq!(read("do=close&reason=fraud").unwrap().reason, None);
        assert_eq!(read("do=open&reason=other&note=x").unwrap().reason, None);
    }

    #[test]
    fn same_results_are_said_together() {
        let provider = |key| garson_platforms::find(key).unwrap().provider();
        let outcome = Outcome {
            restaurant: "Moda".to_owned(),
            results: vec![
                (provider("getir"), RequestResult::Done),
                (
                    provider("trendyol"),
                    RequestResult::Refused(Some(Explanation::answered(400, Some("olmaz")))),
                ),
                (provider("migros"), RequestResult::Done),
            ],
        };
        let text = summary(Lang::Tr, &[outcome]);
        assert!(text.starts_with("Getir") && text.contains(": tamam."), "{text}");
        assert!(text.ends_with("Platform kabul etmedi (400): olmaz."), "{text}");
    }
}
