//! Restaurants: list, create, edit, delete.

mod list;

use crate::flow::Fault;
use crate::flow::admin::businesses as business_flow;
use crate::flow::admin::input::{Patch, RestaurantInput, business_id};
use crate::flow::admin::restaurants;
use crate::http::state::HttpState;
use crate::panel::components::confirm_delete::ConfirmDelete;
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, restaurant_id, restaurant_layout};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::{FormErrors, is_same_name, number, text};
use crate::panel::kit::form_input::{degrees, patch, required};
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::RestaurantWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::business::Business;
use garson_core::calendar::DayEnd;
use garson_core::id::RestaurantId;
use garson_core::restaurant::{Config, RestaurantFields};
use garson_core::time::Timestamp;
use serde_json::{Map, Value};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/restaurants", get(list::list_restaurants))
        .route(
            "/restaurants/new",
            get(show_new_restaurant).post(create_restaurant),
        )
        .route("/restaurants/{id}", get(show_restaurant).post(update_restaurant))
        .route("/restaurants/{id}/delete", post(delete_restaurant))
}

#[derive(Template)]
#[template(path = "restaurant_new.html")]
struct NewPage {
    layout: Layout,
    t: RestaurantWords,
    fields: Vec<Field>,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "restaurant.html")]
struct DetailsPage {
    layout: Layout,
    t: RestaurantWords,
    header: RestaurantHeader,
    fields: Vec<Field>,
    problem: Option<String>,
    confirm_delete: ConfirmDelete,
    created_at: Timestamp,
}

const AUTO_VERIFY: &str = "config.autoVerify";
const MINUTES: &str = "config.preparationMinutes";
const TIMEZONE: &str = "config.timezone";
const DAY_END: &str = "config.dayEndsAt";

/// The stored value of a form field.
fn stored_value(fields: &RestaurantFields, name: &str) -> String {
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
        // The default is not stored.
        TIMEZONE if config.timezone != Config::default().timezone => config.timezone,
        DAY_END if config.day_ends_at != DayEnd::default() => config.day_ends_at.text(),
        _ => String::new(),
    }
}

fn form(t: &RestaurantWords, known: &[Business], value: impl Fn(&str) -> String) -> Vec<Field> {
    let line = |name: &str, label: &str| Field::text(name, label).value(value(name));
    let area = |name: &str, label: &str| {
        Field::new(name, label, FieldKind::Textarea)
            .length(0, 2000)
            .value(value(name))
    };
    let mut choices = vec![Choice::new("", t.no_business, false)];
    choices.extend(known.iter().map(|business| {
        let id = business.id.to_string();
        let is_chosen = id == value("businessId");
        Choice::new(id, business.fields.name.clone(), is_chosen)
    }));
    let day_ends = DayEnd::all().map(|end| {
        // The default is not stored.
        let stored = if end == DayEnd::default() {
            String::new()
        } else {
            end.text()
        };
        let is_chosen = stored == value(DAY_END);
        Choice::new(stored, end.text(), is_chosen)
    });
    vec![
        line("name", t.name).length(0, 200).required(),
        Field::new("businessId", t.business, FieldKind::Select(choices)),
        area("address", t.address),
        area("description", t.description),
        line("lat", t.lat),
        line("lon", t.lon),
        line(MINUTES, t.preparation_minutes).hint(t.preparation_hint),
        line(TIMEZONE, t.timezone).hint(t.timezone_hint),
        Field::new(DAY_END, t.day_end, FieldKind::Select(day_ends.collect())).hint(t.day_end_hint),
        Field::new(
            AUTO_VERIFY,
            t.auto_verify,
            FieldKind::Checkbox(!value(AUTO_VERIFY).is_empty()),
        ),
    ]
}

/// The keys of `config` that the form edits.
fn known_config(sent: &FormData) -> Map<String, Value> {
    let short = |name: &str| name.trim_start_matches("config.").to_owned();
    let auto = if sent.is_checked(AUTO_VERIFY) {
        Value::Bool(true)
    } else {
        Value::Null
    };
    Map::from_iter([
        (short(AUTO_VERIFY), auto),
        (short(MINUTES), number(sent, MINUTES)),
        (short(TIMEZONE), text(sent, TIMEZONE)),
        (short(DAY_END), text(sent, DAY_END)),
    ])
}

/// Sets the known keys and leaves all others alone. Without a change the text stays byte-identical.
fn merge_config(config: &mut Option<String>, known: &Map<String, Value>) {
    let before = config
        .as_deref()
        .and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok())
        .unwrap_or_default();
    // A missing key means the same as null and as an unchecked box.
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
        if value.is_null() {
            after.remove(key);
        } else {
            after.insert(key.clone(), value.clone());
        }
    }
    if after != before {
        *config = (!after.is_empty()).then(|| Value::Object(after).to_string());
    }
}

fn parse_form(sent: &FormData) -> Result<RestaurantInput, Fault> {
    let business = sent.non_empty("businessId");
    Ok(RestaurantInput {
        name: Some(required(sent, "name")?),
        description: patch(sent, "description")?,
        address: patch(sent, "address")?,
        lat: degrees(sent, "lat")?,
        lon: degrees(sent, "lon")?,
        business_id: Patch::from(business).try_map(|id| business_id(&id))?,
        ..RestaurantInput::default()
    })
}

/// The change that the form describes.
fn change(
    user: &CurrentUser,
    sent: &FormData,
) -> Result<impl Fn(&mut RestaurantFields) + use<>, Result<FormErrors, PanelError>> {
    let input = parse_form(sent).map_err(|fault| FormErrors::new(user, fault))?;
    let config = known_config(sent);
    Ok(move |fields: &mut RestaurantFields| {
        input.apply(fields);
        merge_config(&mut fields.config, &config);
    })
}

async fn show_new(
    api: &HttpState,
    user: &CurrentUser,
    value: impl Fn(&str) -> String,
    wrong: Option<FormErrors>,
) -> Result<Response, PanelError> {
    let t = RestaurantWords::of(user.lang);
    let known = business_flow::list(&api.app, user.account.id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let mut fields = form(&t, &known, value);
    let problem = wrong.as_ref().map(|wrong| wrong.mark(&mut fields));
    let page = page(&NewPage {
        layout: user.layout(NavItem::Restaurants),
        t,
        fields,
        problem,
    });
    Ok(form_page(page, wrong.as_ref()))
}

async fn show_new_restaurant(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    // The link on a business page preselects the business.
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    show_new(&api, &user, |name| params.get(name).to_owned(), None).await
}

async fn create_restaurant(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let typed = |name: &str| fields.get(name).to_owned();
    let apply = match change(&user, &fields) {
        Ok(apply) => apply,
        Err(wrong) => return show_new(&api, &user, typed, Some(wrong?)).await,
    };
    let mut wanted = RestaurantFields::default();
    apply(&mut wanted);
    let id = RestaurantId::at(api.app.now());
    match restaurants::create(&api.app, user.by(), id, wanted).await {
        Ok(made) => {
            let t = RestaurantWords::of(user.lang);
            Ok(user.redirect_with_notice(&Tab::Integrations.path(made.id), t.created))
        }
        Err(fault) => show_new(&api, &user, typed, Some(FormErrors::new(&user, fault)?)).await,
    }
}

/// The form shows what was typed, or else what is stored.
async fn show_details(
    api: &HttpState,
    user: &CurrentUser,
    id: RestaurantId,
    typed: Option<&FormData>,
    wrong: Option<FormErrors>,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let account = user.account.id;
    let restaurant = restaurants::get(&api.app, account, id).await.map_err(fail)?;
    let known = business_flow::list(&api.app, account).await.map_err(fail)?;
    let t = RestaurantWords::of(user.lang);
    let name = &restaurant.fields.name;
    let path = Tab::Details.path(id);
    let mut confirm_delete =
        ConfirmDelete::new(format!("{path}/delete"), t.delete, t.delete_text, name, t.confirm);
    let mut fields = form(&t, &known, |name| match typed {
        Some(typed) => typed.get(name).to_owned(),
        None => stored_value(&restaurant.fields, name),
    });
    let marked = fields.iter_mut().chain([&mut confirm_delete.field]);
    let problem = wrong.as_ref().map(|wrong| wrong.mark(marked));
    let page = page(&DetailsPage {
        layout: Layout {
            here: path,
            ..restaurant_layout(user, &restaurant)
        },
        t,
        header: RestaurantHeader::new(user, &restaurant, Tab::Details),
        fields,
        problem,
        confirm_delete,
        created_at: restaurant.created_at,
    });
    Ok(form_page(page, wrong.as_ref()))
}

async fn show_restaurant(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    show_details(&api, &user, id, None, None).await
}

async fn update_restaurant(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let done = match change(&user, &fields) {
        Ok(apply) => restaurants::update(&api.app, user.by(), id, apply)
            .await
            .map_err(|fault| FormErrors::new(&user, fault)),
        Err(wrong) => Err(wrong),
    };
    match done {
        Ok(_) => {
            let t = RestaurantWords::of(user.lang);
            Ok(user.redirect_with_notice(&Tab::Details.path(id), t.saved))
        }
        Err(wrong) => show_details(&api, &user, id, Some(&fields), Some(wrong?)).await,
    }
}

async fn delete_restaurant(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let id = restaurant_id(&user, &id)?;
    let account = user.account.id;
    let restaurant = restaurants::get(&api.app, account, id).await.map_err(fail)?;
    if !is_same_name(fields.get("confirm"), &restaurant.fields.name) {
        let wrong = FormErrors::name_differs(user.lang);
        return show_details(&api, &user, id, None, Some(wrong)).await;
    }
    restaurants::delete(&api.app, user.by(), id).await.map_err(fail)?;
    let t = RestaurantWords::of(user.lang);
    Ok(user.redirect_with_notice("/restaurants", t.deleted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_config_keys_are_kept() {
        let known = |sent: &str| known_config(&FormData::parse(sent.as_bytes()));
        let mut config = Some("{ \"colour\":\"red\", \"autoVerify\":false}".to_owned());
        let before = config.clone();
        merge_config(&mut config, &known(""));
        assert_eq!(config, before, "no change, so it stays byte-identical");
        merge_config(
            &mut config,
            &known("config.autoVerify=on&config.preparationMinutes=20"),
        );
        let read = Config::read(config.as_deref()).unwrap();
        assert!(read.auto_verify && read.preparation_minutes == Some(20));
        assert!(config.as_deref().unwrap().contains("red"));
        merge_config(&mut config, &known(""));
        assert_eq!(config.as_deref(), Some("{\"colour\":\"red\"}"));
        let mut none = None;
        merge_config(&mut none, &known("config.timezone="));
        assert_eq!(none, None);
    }
}
