//! Restaurants: the list, a new one, the details of one, and deleting it.

use super::{businesses, integrations, matching, menu, packages};
use crate::api::{Api, RestaurantChange, RestaurantRequest};
use crate::flow::admin::businesses as business_flow;
use crate::flow::admin::restaurants;
use crate::flow::read::board;
use crate::panel::kit::confirm_delete::Erase;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::form::{Choice, Field, Kind};
use crate::panel::kit::form_errors::{Wrong, checked_number, is_same_name, number, read, text};
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::restaurant_header::{About, Tab, restaurant_id};
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::words::RestaurantWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use garson_core::business::Business;
use garson_core::id::RestaurantId;
use garson_core::restaurant::{Config, Restaurant, RestaurantFields};
use garson_core::time::Timestamp;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Everything about restaurants, and the businesses that they belong to.
pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/restaurants", get(list_restaurants))
        .route(
            "/restaurants/new",
            get(show_new_restaurant).post(create_restaurant),
        )
        .route("/restaurants/{id}", get(show_restaurant).post(update_restaurant))
        .route("/restaurants/{id}/delete", post(delete_restaurant))
        .merge(businesses::routes())
        .merge(integrations::routes())
        .merge(packages::routes())
        .merge(matching::routes())
        .merge(menu::routes())
}

#[derive(Template)]
#[template(path = "restaurants.html")]
struct RestaurantsPage {
    frame: Frame,
    t: RestaurantWords,
    restaurants: Vec<Row>,
}

/// A restaurant in the list.
struct Row {
    id: RestaurantId,
    name: String,
    business: Option<(String, String)>,
    platforms: Vec<Connection>,
}

struct Connection {
    key: String,
    name: String,
    is_active: bool,
    is_in_trouble: bool,
}

async fn list_restaurants(State(api): State<Arc<Api>>, visitor: Visitor) -> Result<Response, PanelError> {
    let fail = |fault| visitor.fail(fault);
    let account = visitor.account.id;
    let known = business_flow::list(&api.app, account).await.map_err(fail)?;
    let found = restaurants::list(&api.app, account, None).await.map_err(fail)?;
    let (frame, now) = (Frame::new(&visitor, Place::Restaurants), api.app.now());
    let row = |restaurant: Restaurant| Row {
        id: restaurant.id,
        business: known
            .iter()
            .find(|business| Some(business.id) == restaurant.fields.business_id)
            .map(|business| (business.id.to_string(), business.fields.name.clone())),
        platforms: restaurant
            .integrations
            .iter()
            .map(|it| Connection {
                key: it.provider.to_string(),
                name: frame.provider(&it.provider),
                is_active: it.is_active,
                is_in_trouble: board::is_in_trouble(it, now),
            })
            .collect(),
        name: restaurant.fields.name,
    };
    Ok(page(&RestaurantsPage {
        restaurants: found.into_iter().map(row).collect(),
        t: RestaurantWords::of(visitor.lang),
        frame,
    }))
}

#[derive(Template)]
#[template(path = "restaurant_new.html")]
struct NewPage {
    frame: Frame,
    t: RestaurantWords,
    fields: Vec<Field>,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "restaurant.html")]
struct DetailsPage {
    frame: Frame,
    t: RestaurantWords,
    about: About,
    fields: Vec<Field>,
    problem: Option<String>,
    erase: Erase,
    created_at: Timestamp,
}

const AUTO_VERIFY: &str = "config.autoVerify";
const MINUTES: &str = "config.preparationMinutes";
const TIMEZONE: &str = "config.timezone";

/// What is kept, by the names that the form has.
fn kept(fields: &RestaurantFields, name: &str) -> String {
    let config = Config::read(fields.config.as_deref()).unwrap_or_default();
    let given = |text: &Option<String>| text.clone().unwrap_or_default();
    let degrees = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    match name {
        "name" => fields.name.clone(),
        "businessId" => fields.business_id.map(|id| id.to_string()).unwrap_or_default(),
        "description" => given(&fields.description),
        "address" => given(&fields.address),
        "lat" => degrees(fields.lat),
        "lon" => degrees(fields.lon),
        AUTO_VERIFY if config.auto_verify => "on".to_owned(),
        MINUTES => config
            .preparation_minutes
            .map(|minutes| minutes.to_string())
            .unwrap_or_default(),
        // The usual one is not written down.
        TIMEZONE if config.timezone != Config::default().timezone => config.timezone,
        _ => String::new(),
    }
}

fn form(t: &RestaurantWords, known: &[Business], value: impl Fn(&str) -> String) -> Vec<Field> {
    let line = |name: &str, label: &str| Field::text(name, label).value(value(name));
    let area = |name: &str, label: &str| {
        Field::new(name, label, Kind::Area)
            .between(0, 2000)
            .value(value(name))
    };
    let mut choices = vec![Choice::new("", t.no_business, false)];
    choices.extend(known.iter().map(|business| {
        let id = business.id.to_string();
        let is_chosen = id == value("businessId");
        Choice::new(id, business.fields.name.clone(), is_chosen)
    }));
    vec![
        line("name", t.name).between(0, 200).required(),
        Field::new("businessId", t.business, Kind::Select(choices)),
        area("address", t.address),
        area("description", t.description),
        line("lat", t.lat),
        line("lon", t.lon),
        line(MINUTES, t.preparation_minutes).hint(t.preparation_hint),
        line(TIMEZONE, t.timezone).hint(t.timezone_hint),
        Field::new(
            AUTO_VERIFY,
            t.auto_verify,
            Kind::Tick(!value(AUTO_VERIFY).is_empty()),
        ),
    ]
}

/// What the form says of the keys of `config` that the service understands.
fn known_config(sent: &Fields) -> Map<String, Value> {
    let short = |name: &str| name.trim_start_matches("config.").to_owned();
    let auto = if sent.is_ticked(AUTO_VERIFY) {
        Value::Bool(true)
    } else {
        Value::Null
    };
    Map::from_iter([
        (short(AUTO_VERIFY), auto),
        (short(MINUTES), number(sent, MINUTES)),
        (short(TIMEZONE), text(sent, TIMEZONE)),
    ])
}

/// Sets the known keys and leaves all others alone; an object in which nothing changes stays byte for byte.
fn configure(config: &mut Option<String>, known: &Map<String, Value>) {
    let before = config
        .as_deref()
        .and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok())
        .unwrap_or_default();
    // What is not there means the same as null, and as a box that is not ticked.
    let meaning = |value: Option<&Value>| {
        value
            .filter(|value| **value != Value::Bool(false))
            .cloned()
            .unwrap_or_default()
    };
    let mut after = before.clone();
    for (key, value) in known {
        if meaning(before.get(key)) == meaning(Some(value)) {
            continue;
        }
        match value {
            Value::Null => drop(after.remove(key)),
            value => drop(after.insert(key.clone(), value.clone())),
        }
    }
    if after != before {
        *config = (!after.is_empty()).then(|| Value::Object(after).to_string());
    }
}

/// What the form wants changed, by the API's own rules.
fn change(
    visitor: &Visitor,
    sent: &Fields,
) -> Result<impl Fn(&mut RestaurantFields) + use<>, Result<Wrong, PanelError>> {
    let degrees = |name| checked_number(sent, name).map_err(|error| Wrong::new(visitor, error));
    let body = json!({
        "name": sent.get("name"),
        "businessId": text(sent, "businessId"),
        "description": text(sent, "description"),
        "address": text(sent, "address"),
        "lat": degrees("lat")?,
        "lon": degrees("lon")?,
    });
    let change = read::<RestaurantRequest>(&body)
        .and_then(RestaurantChange::check)
        .map_err(|error| Wrong::new(visitor, error))?;
    let config = known_config(sent);
    Ok(move |fields: &mut RestaurantFields| {
        change.apply(fields);
        configure(&mut fields.config, &config);
    })
}

async fn show_new(
    api: &Api,
    visitor: &Visitor,
    value: impl Fn(&str) -> String,
    wrong: Option<Wrong>,
) -> Result<Response, PanelError> {
    let t = RestaurantWords::of(visitor.lang);
    let known = business_flow::list(&api.app, visitor.account.id)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let mut fields = form(&t, &known, value);
    let problem = wrong.as_ref().map(|wrong| wrong.mark(&mut fields));
    let shown = page(&NewPage {
        frame: Frame::new(visitor, Place::Restaurants),
        t,
        fields,
        problem,
    });
    Ok(answer(shown, wrong.as_ref()))
}

/// A page that says what is wrong is no success.
pub fn answer(page: Response, wrong: Option<&Wrong>) -> Response {
    match wrong {
        Some(wrong) => (wrong.status, page).into_response(),
        None => page,
    }
}

async fn show_new_restaurant(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    // A business may be chosen on the way here.
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    show_new(&api, &visitor, |name| asked.get(name).to_owned(), None).await
}

async fn create_restaurant(
    State(api): State<Arc<Api>>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let typed = |name: &str| fields.get(name).to_owned();
    let apply = match change(&visitor, &fields) {
        Ok(apply) => apply,
        Err(wrong) => return show_new(&api, &visitor, typed, Some(wrong?)).await,
    };
    let mut wanted = RestaurantFields::default();
    apply(&mut wanted);
    let id = RestaurantId::at(api.app.now());
    match restaurants::create(&api.app, visitor.account.id, id, wanted).await {
        Ok(made) => {
            let t = RestaurantWords::of(visitor.lang);
            Ok(visitor.done(&Tab::Integrations.path(made.id), t.created))
        }
        Err(fault) => show_new(&api, &visitor, typed, Some(Wrong::new(&visitor, fault)?)).await,
    }
}

/// The details, with what was typed instead of what is kept, and what is wrong with it.
async fn show_details(
    api: &Api,
    visitor: &Visitor,
    id: RestaurantId,
    typed: Option<&Fields>,
    wrong: Option<Wrong>,
) -> Result<Response, PanelError> {
    let fail = |fault| visitor.fail(fault);
    let account = visitor.account.id;
    let restaurant = restaurants::get(&api.app, account, id).await.map_err(fail)?;
    let known = business_flow::list(&api.app, account).await.map_err(fail)?;
    let t = RestaurantWords::of(visitor.lang);
    let name = &restaurant.fields.name;
    let path = Tab::Details.path(id);
    let mut erase = Erase::new(format!("{path}/delete"), t.delete, t.delete_text, name, t.confirm);
    let mut fields = form(&t, &known, |name| match typed {
        Some(typed) => typed.get(name).to_owned(),
        None => kept(&restaurant.fields, name),
    });
    let marked = fields.iter_mut().chain([&mut erase.field]);
    let problem = wrong.as_ref().map(|wrong| wrong.mark(marked));
    let shown = page(&DetailsPage {
        frame: Frame {
            here: path,
            ..Frame::new(visitor, Place::Restaurants)
        },
        t,
        about: About::new(visitor, &restaurant, Tab::Details),
        fields,
        problem,
        erase,
        created_at: restaurant.created_at,
    });
    Ok(answer(shown, wrong.as_ref()))
}

async fn show_restaurant(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    visitor: Visitor,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    show_details(&api, &visitor, id, None, None).await
}

async fn update_restaurant(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    let done = match change(&visitor, &fields) {
        Ok(apply) => restaurants::update(&api.app, visitor.account.id, id, apply)
            .await
            .map_err(|fault| Wrong::new(&visitor, fault)),
        Err(wrong) => Err(wrong),
    };
    match done {
        Ok(_) => {
            let t = RestaurantWords::of(visitor.lang);
            Ok(visitor.done(&Tab::Details.path(id), t.saved))
        }
        Err(wrong) => show_details(&api, &visitor, id, Some(&fields), Some(wrong?)).await,
    }
}

async fn delete_restaurant(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let fail = |fault| visitor.fail(fault);
    let id = restaurant_id(&visitor, &id)?;
    let account = visitor.account.id;
    let restaurant = restaurants::get(&api.app, account, id).await.map_err(fail)?;
    if !is_same_name(fields.get("confirm"), &restaurant.fields.name) {
        let wrong = Wrong::name_differs(visitor.lang);
        return show_details(&api, &visitor, id, None, Some(wrong)).await;
    }
    restaurants::delete(&api.app, account, id).await.map_err(fail)?;
    let t = RestaurantWords::of(visitor.lang);
    Ok(visitor.done("/restaurants", t.deleted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_keys_of_config_are_left_alone() {
        let known = |sent: &str| known_config(&Fields::parse(sent.as_bytes()));
        let mut config = Some("{ \"colour\":\"red\", \"autoVerify\":false}".to_owned());
        let before = config.clone();
        configure(&mut config, &known(""));
        assert_eq!(config, before, "nothing has changed, so not a byte does");
        configure(
            &mut config,
            &known("config.autoVerify=on&config.preparationMinutes=20"),
        );
        let read = Config::read(config.as_deref()).unwrap();
        assert!(read.auto_verify && read.preparation_minutes == Some(20));
        assert!(config.as_deref().unwrap().contains("red"));
        configure(&mut config, &known(""));
        assert_eq!(config.as_deref(), Some("{\"colour\":\"red\"}"));
        let mut none = None;
        configure(&mut none, &known("config.timezone="));
        assert_eq!(none, None);
    }
}
