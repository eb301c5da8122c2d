//! The webhook: its address and the form of its key, a test, the delivery log, and sending again what has failed.

use super::delivery::{self, LogPart};
use crate::api::Api;
use crate::flow::Fault;
use crate::flow::admin::accounts;
use crate::flow::admin::accounts::Actor;
use crate::flow::deliver::{resend, resend_all};
use crate::net::guard::{Target, is_clear_text};
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::form::{Choice, Field, Kind};
use crate::panel::kit::form_errors::Wrong;
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::words::{DeliveryWords, WebhookWords};
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use garson_core::account::{AuthorizationForm, Webhook};
use garson_core::id::ResendId;
use garson_core::time::{Timestamp, Zone};
use garson_store::tables::resends::Resend;
use http::StatusCode;
use std::sync::Arc;
use std::time::Duration;

/// So many of the last runs of sending again are shown.
const SHOWN_RUNS: usize = 5;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How browsers write a moment that was chosen.
const MOMENT: &str = "%Y-%m-%dT%H:%M";

pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/webhook", get(show_webhook).post(save_webhook))
        .route("/webhook/remove", post(remove_webhook))
        .route("/webhook/test", post(send_test))
        .route("/webhook/resend", post(resend_failed))
        .merge(delivery::routes())
}

#[derive(Template)]
#[template(path = "webhook.html")]
struct WebhookPage {
    frame: Frame,
    t: WebhookWords,
    d: DeliveryWords,
    webhook: Option<Webhook>,
    is_clear_text: bool,
    url: Field,
    form: Field,
    updates: Field,
    since: Field,
    with_skipped: Field,
    runs: Vec<Resend>,
    is_running: bool,
    log: LogPart,
}

/// What was typed and not accepted, and why.
struct Refused {
    url: String,
    form: AuthorizationForm,
    updates: bool,
    why: String,
}

async fn show(
    api: &Api,
    visitor: &Visitor,
    asked: &Fields,
    refused: Option<Refused>,
) -> Result<Response, PanelError> {
    let fail = |fault| visitor.fail(fault);
    let (app, account) = (&api.app, visitor.account.id);
    let (webhook, wants_updates) = accounts::webhook_and_updates(app, account).await.map_err(fail)?;
    let mut runs = resend_all::list(app, account).await.map_err(fail)?;
    runs.truncate(SHOWN_RUNS);
    let log = LogPart::read(api, visitor, asked).await?;
    let t = WebhookWords::of(visitor.lang);
    let is_ticked = refused.as_ref().map_or(wants_updates, |refused| refused.updates);
    let (typed, chosen, why) = match (refused, &webhook) {
        (Some(refused), _) => (refused.url, refused.form, Some(refused.why)),
        (None, Some(webhook)) => (webhook.url.clone(), webhook.authorization, None),
        (None, None) => (String::new(), AuthorizationForm::default(), None),
    };
    let choice = |form: AuthorizationForm, name| Choice::new(form.as_str(), name, form == chosen);
    let forms = vec![
        choice(AuthorizationForm::Bearer, t.bearer),
        choice(AuthorizationForm::Bare, t.bare),
    ];
    let target = webhook
        .as_ref()
        .and_then(|webhook| Target::parse(&webhook.url).ok());
    let day_ago = Zone::istanbul().write(app.now().minus(DAY), MOMENT);
    Ok(page(&WebhookPage {
        frame: Frame::new(visitor, Place::Webhook),
        is_clear_text: target.is_some_and(|target| is_clear_text(&target)),
        url: Field::new("url", t.url, Kind::Input("url"))
            .value(typed)
            .hint(t.url_hint)
            .error(why.as_deref())
            .required()
            .between(0, 2048),
        form: Field::new("authorization", t.form, Kind::Select(forms)).hint(t.form_hint),
        updates: Field::new("orderUpdates", t.updates, Kind::Tick(is_ticked)).hint(t.updates_hint),
        since: Field::new("since", t.again_since, Kind::Input("datetime-local"))
            .value(day_ago)
            .required(),
        with_skipped: Field::new("skipped", t.again_skipped, Kind::Tick(false)),
        is_running: runs.iter().any(|run| run.finished_at.is_none()),
        d: DeliveryWords::of(visitor.lang),
        runs,
        webhook,
        log,
        t,
    }))
}

async fn show_webhook(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    show(&api, &visitor, &asked, None).await
}

async fn save_webhook(
    State(api): State<Arc<Api>>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let url = fields.get("url").to_owned();
    let form = AuthorizationForm::named(fields.get("authorization")).unwrap_or_default();
    let updates = fields.is_ticked("orderUpdates");
    let why = match accounts::set_webhook(
        &api.app,
        visitor.account.id,
        Actor::Owner,
        Some(url.clone()),
        Some(form),
        Some(updates),
    )
    .await
    {
        Ok(_) => return Ok(visitor.done("/webhook", WebhookWords::of(visitor.lang).saved)),
        Err(fault @ (Fault::TargetNotAllowed { .. } | Fault::Invalid { .. })) => {
            Wrong::new(&visitor, fault)?.into_text()
        }
        Err(fault) => return Err(visitor.fail(fault)),
    };
    let refused = Refused {
        url,
        form,
        updates,
        why,
    };
    let shown = show(&api, &visitor, &Fields::default(), Some(refused)).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, shown).into_response())
}

async fn remove_webhook(
    State(api): State<Arc<Api>>,
    Sent { visitor, .. }: Sent,
) -> Result<Response, PanelError> {
    accounts::remove_webhook(&api.app, visitor.account.id)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    Ok(visitor.done("/webhook", WebhookWords::of(visitor.lang).removed))
}

async fn send_test(State(api): State<Arc<Api>>, Sent { visitor, .. }: Sent) -> Result<Response, PanelError> {
    let t = WebhookWords::of(visitor.lang);
    let sent = resend::test(&api.app, visitor.account.id).await;
    told(
        &visitor,
        "/webhook",
        sent,
        [t.test_taken, t.test_refused, t.test_unreached],
    )
}

/// Says what came of sending something by hand: it was taken, it was not, or nobody was there.
pub fn told(
    visitor: &Visitor,
    back: &str,
    sent: Result<u16, Fault>,
    [taken, not_taken, unreached]: [&str; 3],
) -> Result<Response, PanelError> {
    match sent {
        Ok(status @ 200..300) => Ok(visitor.done(back, format!("{taken} {status}"))),
        Ok(status) => Ok(visitor.refused(back, format!("{not_taken} {status}"))),
        Err(fault @ Fault::TooManySends) => Ok(visitor.refused(back, visitor.fail(fault).text())),
        Err(Fault::TargetUnreachable { explanation }) => {
            let why = explain::text(visitor.lang, &explanation);
            Ok(visitor.refused(back, format!("{unreached} {why}")))
        }
        Err(fault @ (Fault::NoWebhook | Fault::TargetNotAllowed { .. })) => {
            Ok(visitor.refused(back, visitor.fail(fault).text()))
        }
        Err(fault) => Err(visitor.fail(fault)),
    }
}

/// A moment as browsers write it, on Istanbul's clock, which is never set forward or back.
fn moment(text: &str) -> Option<Timestamp> {
    let (day, time) = text.split_once('T')?;
    let (hours, rest) = time.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':').unwrap_or((rest, "0"));
    let number = |text: &str, below: u64| text.parse::<u64>().ok().filter(|number| *number < below);
    let (hours, minutes, seconds) = (number(hours, 24)?, number(minutes, 60)?, number(seconds, 60)?);
    let start = Zone::istanbul().start_of_day(day)?;
    Some(start.plus(Duration::from_secs((hours * 60 + minutes) * 60 + seconds)))
}

async fn resend_failed(
    State(api): State<Arc<Api>>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let t = WebhookWords::of(visitor.lang);
    let Some(since) = moment(fields.get("since")) else {
        return Ok(visitor.refused("/webhook", t.again_wrong));
    };
    let id = ResendId::at(api.app.now());
    let with_skipped = fields.is_ticked("skipped");
    match resend_all::start(&api.app, visitor.account.id, id, since, with_skipped).await {
        Ok(run) => Ok(visitor.done("/webhook", format!("{} {}", t.again_started, run.found))),
        Err(fault @ (Fault::NoWebhook | Fault::TooManyRetries)) => {
            Ok(visitor.refused("/webhook", visitor.fail(fault).text()))
        }
        Err(fault) => Err(visitor.fail(fault)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_istanbul() {
        let at = |text| moment(text).map(|at| at.to_string());
        assert_eq!(
            at("2026-03-01T12:30").as_deref(),
            Some("2026-03-01T09:30:00.000Z")
        );
        assert_eq!(
            at("2026-03-01T00:00:05").as_deref(),
            Some("2026-02-28T21:00:05.000Z")
        );
        for wrong in [
            "",
            "T",
            "2026-03-01",
            "2026-02-30T10:00",
            "2026-03-01T24:00",
            "2026-03-01T10:-1",
        ] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }
}
