//! Businesses: list, create, edit, link restaurants, delete.

use crate::flow::Fault;
use crate::flow::admin::input::BusinessInput;
use crate::flow::admin::{businesses, restaurants};
use crate::flow::fault::Thing;
use crate::http::state::HttpState;
use crate::panel::components::confirm_delete::ConfirmDelete;
use crate::panel::components::restaurant_header::restaurant_id;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::{FormErrors, is_same_name};
use crate::panel::kit::form_input::{patch, required};
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::BusinessWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::business::BusinessFields;
use garson_core::id::{BusinessId, RestaurantId};
use garson_core::restaurant::Restaurant;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
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
    layout: Layout,
    t: BusinessWords,
    businesses: Vec<Row>,
}

struct Row {
    id: BusinessId,
    name: String,
    city: String,
    restaurants: usize,
}

async fn list_businesses(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let account = user.account.id;
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
        t: BusinessWords::of(user.lang),
        layout: user.layout(NavItem::Restaurants),
    }))
}

/// One business, or the form for a new one.
#[derive(Template)]
#[template(path = "business.html")]
struct BusinessPage {
    layout: Layout,
    t: BusinessWords,
    title: String,
    fields: Vec<Field>,
    problem: Option<String>,
    /// `None` for a new business.
    existing: Option<Existing>,
}

struct Existing {
    id: BusinessId,
    restaurants: Vec<(RestaurantId, String)>,
    /// Selects a restaurant to link.
    link: Option<Field>,
    confirm_delete: ConfirmDelete,
}

/// The optional fields.
const OPTIONAL: [&str; 9] = [
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

fn stored_value(fields: &BusinessFields, name: &str) -> String {
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
        .length(0, 200)
        .value(value("name"))
        .required();
    let rest = OPTIONAL.iter().map(|name| {
        let (kind, max_length) = match *name {
            "address" | "description" => (FieldKind::Textarea, 2000),
            _ => (FieldKind::Input("text"), 200),
        };
        Field::new(*name, label(name), kind)
            .length(0, max_length)
            .value(value(name))
    });
    std::iter::once(name).chain(rest).collect()
}

fn parse_form(sent: &FormData) -> Result<BusinessInput, Fault> {
    Ok(BusinessInput {
        name: required(sent, "name")?,
        description: patch(sent, "description")?,
        vat_number: patch(sent, "vatNumber")?,
        tax_office: patch(sent, "taxOffice")?,
        address: patch(sent, "address")?,
        city: patch(sent, "city")?,
        country: patch(sent, "country")?,
        zip_code: patch(sent, "zipCode")?,
        phone: patch(sent, "phone")?,
        email: patch(sent, "email")?,
    })
}

fn parse(user: &CurrentUser, id: &str) -> Result<BusinessId, PanelError> {
    id.parse()
        .map_err(|_| user.fail(Fault::not_found(Thing::Business, id)))
}

fn show_new(user: &CurrentUser, value: impl Fn(&str) -> String, wrong: Option<&FormErrors>) -> Response {
    let t = BusinessWords::of(user.lang);
    let mut fields = form(&t, value);
    let problem = wrong.map(|wrong| wrong.mark(&mut fields));
    let page = page(&BusinessPage {
        layout: user.layout(NavItem::Restaurants),
        t,
        title: t.new.to_owned(),
        fields,
        problem,
        existing: None,
    });
    form_page(page, wrong)
}

async fn show_new_business(user: CurrentUser) -> Response {
    show_new(&user, |_| String::new(), None)
}

async fn create_business(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let wanted = match parse_form(&fields) {
        Ok(wanted) => wanted,
        Err(fault) => {
            let wrong = FormErrors::new(&user, fault)?;
            return Ok(show_new(&user, |name| fields.get(name).to_owned(), Some(&wrong)));
        }
    };
    let mut given = BusinessFields::default();
    wanted.apply(&mut given);
    let id = BusinessId::at(api.app.now());
    let made = businesses::create(&api.app, user.by(), id, given)
        .await
        .map_err(|fault| user.fail(fault))?;
    let t = BusinessWords::of(user.lang);
    Ok(user.redirect_with_notice(&format!("/businesses/{}", made.id), t.created))
}

/// The form shows what was typed, or else what is stored.
async fn show_details(
    api: &HttpState,
    user: &CurrentUser,
    id: BusinessId,
    typed: Option<&FormData>,
    wrong: Option<FormErrors>,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let account = user.account.id;
    let business = businesses::get(&api.app, account, id).await.map_err(fail)?;
    let branches = restaurants::list(&api.app, account, None).await.map_err(fail)?;
    let (mine, others): (Vec<Restaurant>, Vec<Restaurant>) = branches
        .into_iter()
        .partition(|branch| branch.fields.business_id == Some(id));
    let t = BusinessWords::of(user.lang);
    let choice = |branch: Restaurant| Choice::new(branch.id.to_string(), branch.fields.name, false);
    let choices: Vec<Choice> = others.into_iter().map(choice).collect();
    let path = format!("/businesses/{id}");
    let name = &business.fields.name;
    let mut confirm_delete =
        ConfirmDelete::new(format!("{path}/delete"), t.delete, t.delete_text, name, t.confirm);
    let mut fields = form(&t, |name| match typed {
        Some(typed) => typed.get(name).to_owned(),
        None => stored_value(&business.fields, name),
    });
    let marked = fields.iter_mut().chain([&mut confirm_delete.field]);
    let problem = wrong.as_ref().map(|wrong| wrong.mark(marked));
    let link = Field::new("restaurant", t.link, FieldKind::Select(choices.clone())).hint(t.link_hint);
    let page = page(&BusinessPage {
        layout: Layout {
            here: path,
            ..user.layout(NavItem::Restaurants)
        },
        t,
        title: business.fields.name.clone(),
        fields,
        problem,
        existing: Some(Existing {
            id,
            restaurants: mine.into_iter().map(|it| (it.id, it.fields.name)).collect(),
            link: (!choices.is_empty()).then_some(link),
            confirm_delete,
        }),
    });
    Ok(form_page(page, wrong.as_ref()))
}

async fn show_business(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    show_details(&api, &user, parse(&user, &id)?, None, None).await
}

async fn update_business(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse(&user, &id)?;
    let wanted = match parse_form(&fields) {
        Ok(wanted) => wanted,
        Err(fault) => {
            let wrong = FormErrors::new(&user, fault)?;
            return show_details(&api, &user, id, Some(&fields), Some(wrong)).await;
        }
    };
    let change = move |given: &mut BusinessFields| wanted.apply(given);
    businesses::update(&api.app, user.by(), id, change)
        .await
        .map_err(|fault| user.fail(fault))?;
    let t = BusinessWords::of(user.lang);
    Ok(user.redirect_with_notice(&format!("/businesses/{id}"), t.saved))
}

async fn link_restaurant(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = parse(&user, &id)?;
    let restaurant = restaurant_id(&user, fields.get("restaurant"))?;
    restaurants::link(&api.app, user.by(), id, restaurant)
        .await
        .map_err(|fault| user.fail(fault))?;
    let t = BusinessWords::of(user.lang);
    Ok(user.redirect_with_notice(&format!("/businesses/{id}"), t.linked))
}

async fn delete_business(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let id = parse(&user, &id)?;
    let account = user.account.id;
    let business = businesses::get(&api.app, account, id).await.map_err(fail)?;
    if !is_same_name(fields.get("confirm"), &business.fields.name) {
        let wrong = FormErrors::name_differs(user.lang);
        return show_details(&api, &user, id, None, Some(wrong)).await;
    }
    businesses::delete(&api.app, user.by(), id).await.map_err(fail)?;
    let t = BusinessWords::of(user.lang);
    Ok(user.redirect_with_notice("/businesses", t.deleted))
}
