//! Businesses: the list, a new one, the details of one with its restaurants, linking to it, and deleting it.

use super::restaurants::answer;
use crate::api::{Api, ApiError, BusinessRequest};
use crate::flow::Fault;
use crate::flow::admin::{businesses, restaurants};
use crate::flow::fault::Thing;
use crate::panel::kit::confirm_delete::Erase;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::form::{Choice, Field, Kind};
use crate::panel::kit::form_errors::{Wrong, is_same_name, read, text};
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::words::BusinessWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::business::BusinessFields;
use garson_core::id::{BusinessId, RestaurantId};
use garson_core::restaurant::Restaurant;
use serde_json::{Map, Value};
use std::sync::Arc;

pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/businesses", get(list_businesses))
        .route("/businesses/new", get(show_new_business).post(create_business))
        .route("/businesses/{id}", get(show_business).post(update_business))
        .route("/businesses/{id}/link", post(link_restaurant))
        .route("/businesses/{id}/delete", post(delete_business))
}

#[derive(Template)]
#[template(path = "businesses.html")]
struct BusinessesPage {
    frame: Frame,
    t: BusinessWords,
    businesses: Vec<Row>,
}

struct Row {
    id: BusinessId,
    name: String,
    city: String,
    restaurants: usize,
}

async fn list_businesses(State(api): State<Arc<Api>>, visitor: Visitor) -> Result<Response, PanelError> {
    let fail = |fault| visitor.fail(fault);
    let account = visitor.account.id;
    let found = businesses::list(&api.app, account).await.map_err(fail)?;
    let branches = restaurants::list(&api.app, account, None).await.map_err(fail)?;
    let row = |business: garson_core::business::Business| Row {
        restaurants: branches
            .iter()
            .filter(|branch| branch.fields.business_id == Some(business.id))
            .count(),
        id: business.id,
        name: business.fields.name,
        city: business.fields.city.unwrap_or_default(),
    };
    Ok(page(&BusinessesPage {
        businesses: found.into_iter().map(row).collect(),
        t: BusinessWords::of(visitor.lang),
        frame: Frame::new(&visitor, Place::Restaurants),
    }))
}

/// One business, or the form for a new one.
#[derive(Template)]
#[template(path = "business.html")]
struct BusinessPage {
    frame: Frame,
    t: BusinessWords,
    title: String,
    fields: Vec<Field>,
    problem: Option<String>,
    /// What only a business has that is there already.
    known: Option<Known>,
}

struct Known {
    id: BusinessId,
    restaurants: Vec<(RestaurantId, String)>,
    /// The restaurants that could be linked.
    link: Option<Field>,
    erase: Erase,
}

/// The fields beside the name, each with the most characters that fit.
const NAMES: [&str; 9] = [
    "vatNumber",
    "taxOffice",
    "phone",
    "email",
    "city",
    "country",
    "zipCode",
    "address",
    "description",
];

fn kept(fields: &BusinessFields, name: &str) -> String {
    let found = match name {
        "name" => return fields.name.clone(),
        "description" => &fields.description,
        "vatNumber" => &fields.vat_number,
        "taxOffice" => &fields.tax_office,
        "address" => &fields.address,
        "city" => &fields.city,
        "country" => &fields.country,
        "zipCode" => &fields.zip_code,
        "phone" => &fields.phone,
        "email" => &fields.email,
        _ => &None,
    };
    found.clone().unwrap_or_default()
}

fn form(t: &BusinessWords, value: impl Fn(&str) -> String) -> Vec<Field> {
    let label = |name: &str| match name {
        "description" => t.description,
        "vatNumber" => t.vat_number,
        "taxOffice" => t.tax_office,
        "address" => t.address,
        "city" => t.city,
        "country" => t.country,
        "zipCode" => t.zip_code,
        "phone" => t.phone,
        _ => t.email,
    };
    let name = Field::text("name", t.name)
        .between(0, 200)
        .value(value("name"))
        .required();
    let rest = NAMES.iter().map(|name| {
        let (kind, longest) = match *name {
            "address" | "description" => (Kind::Area, 2000),
            _ => (Kind::Input("text"), 200),
        };
        Field::new(*name, label(name), kind)
            .between(0, longest)
            .value(value(name))
    });
    std::iter::once(name).chain(rest).collect()
}

/// What the form says, by the API's own rules.
fn understood(sent: &Fields) -> Result<BusinessRequest, ApiError> {
    let mut body: Map<String, Value> = NAMES
        .iter()
        .map(|name| ((*name).to_owned(), text(sent, name)))
        .collect();
    body.insert("name".to_owned(), sent.get("name").into());
    read(&Value::Object(body))
}

fn parse(visitor: &Visitor, id: &str) -> Result<BusinessId, PanelError> {
    id.parse()
        .map_err(|_| visitor.fail(Fault::not_found(Thing::Business, id)))
}

fn show_new(visitor: &Visitor, value: impl Fn(&str) -> String, wrong: Option<&Wrong>) -> Response {
    let t = BusinessWords::of(visitor.lang);
    let mut fields = form(&t, value);
    let problem = wrong.map(|wrong| wrong.mark(&mut fields));
    let shown = page(&BusinessPage {
        frame: Frame::new(visitor, Place::Restaurants),
        t,
        title: t.new.to_owned(),
        fields,
        problem,
        known: None,
    });
    answer(shown, wrong)
}

async fn show_new_business(visitor: Visitor) -> Response {
    show_new(&visitor, |_| String::new(), None)
}

async fn create_business(
    State(api): State<Arc<Api>>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let wanted = match understood(&fields) {
        Ok(wanted) => wanted,
        Err(error) => {
            let wrong = Wrong::new(&visitor, error)?;
            return Ok(show_new(
                &visitor,
                |name| fields.get(name).to_owned(),
                Some(&wrong),
            ));
        }
    };
    let mut given = BusinessFields::default();
    wanted.apply(&mut given);
    let id = BusinessId::at(api.app.now());
    let made = businesses::create(&api.app, visitor.account.id, id, given)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let t = BusinessWords::of(visitor.lang);
    Ok(visitor.done(&format!("/businesses/{}", made.id), t.created))
}

/// The business, with what was typed instead of what is kept, and what is wrong with it.
async fn show_details(
    api: &Api,
    visitor: &Visitor,
    id: BusinessId,
    typed: Option<&Fields>,
    wrong: Option<Wrong>,
) -> Result<Response, PanelError> {
    let fail = |fault| visitor.fail(fault);
    let account = visitor.account.id;
    let business = businesses::get(&api.app, account, id).await.map_err(fail)?;
    let branches = restaurants::list(&api.app, account, None).await.map_err(fail)?;
    let (mine, others): (Vec<Restaurant>, Vec<Restaurant>) = branches
        .into_iter()
        .partition(|branch| branch.fields.business_id == Some(id));
    let t = BusinessWords::of(visitor.lang);
    let choice = |branch: Restaurant| Choice::new(branch.id.to_string(), branch.fields.name, false);
    let choices: Vec<Choice> = others.into_iter().map(choice).collect();
    let path = format!("/businesses/{id}");
    let name = &business.fields.name;
    let mut erase = Erase::new(format!("{path}/delete"), t.delete, t.delete_text, name, t.confirm);
    let mut fields = form(&t, |name| match typed {
        Some(typed) => typed.get(name).to_owned(),
        None => kept(&business.fields, name),
    });
    let marked = fields.iter_mut().chain([&mut erase.field]);
    let problem = wrong.as_ref().map(|wrong| wrong.mark(marked));
    let link = Field::new("restaurant", t.link, Kind::Select(choices.clone())).hint(t.link_hint);
    let shown = page(&BusinessPage {
        frame: Frame {
            here: path,
            ..Frame::new(visitor, Place::Restaurants)
        },
        t,
        title: business.fields.name.clone(),
        fields,
        problem,
        known: Some(Known {
            id,
            restaurants: mine.into_iter().map(|it| (it.id, it.fields.name)).collect(),
            link: (!choices.is_empty()).then_some(link),
            erase,
        }),
    });
    Ok(answer(shown, wrong.as_ref()))
}

async fn show_business(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    visitor: Visitor,
) -> Result<Response, PanelError> {
    show_details(&api, &visitor, parse(&visitor, &id)?, None, None).await
}

async fn update_business(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let id = parse(&visitor, &id)?;
    let wanted = match understood(&fields) {
        Ok(wanted) => wanted,
        Err(error) => {
            let wrong = Wrong::new(&visitor, error)?;
            return show_details(&api, &visitor, id, Some(&fields), Some(wrong)).await;
        }
    };
    let change = move |given: &mut BusinessFields| wanted.apply(given);
    businesses::update(&api.app, visitor.account.id, id, change)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let t = BusinessWords::of(visitor.lang);
    Ok(visitor.done(&format!("/businesses/{id}"), t.saved))
}

async fn link_restaurant(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let id = parse(&visitor, &id)?;
    let restaurant = crate::panel::kit::restaurant_header::restaurant_id(&visitor, fields.get("restaurant"))?;
    restaurants::link(&api.app, visitor.account.id, id, restaurant)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let t = BusinessWords::of(visitor.lang);
    Ok(visitor.done(&format!("/businesses/{id}"), t.linked))
}

async fn delete_business(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let fail = |fault| visitor.fail(fault);
    let id = parse(&visitor, &id)?;
    let account = visitor.account.id;
    let business = businesses::get(&api.app, account, id).await.map_err(fail)?;
    if !is_same_name(fields.get("confirm"), &business.fields.name) {
        let wrong = Wrong::name_differs(visitor.lang);
        return show_details(&api, &visitor, id, None, Some(wrong)).await;
    }
    businesses::delete(&api.app, account, id).await.map_err(fail)?;
    let t = BusinessWords::of(visitor.lang);
    Ok(visitor.done("/businesses", t.deleted))
}
