//! Personal data of customers: find, hand out, erase. What identifies a customer is sent in forms, never in addresses.

use crate::flow::Fault;
use crate::flow::privacy::{self, CustomerExport, CustomerOrder, MAX_DAYS};
use crate::http::customer_file::customer_file;
use crate::http::state::HttpState;
use crate::panel::components::confirm_delete::ConfirmDelete;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::names;
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::PrivacyWords;
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::id::{ErasureId, OrderId};
use garson_core::privacy::CustomerQuery;
use garson_store::tables::erasures::Erasure;
use std::sync::Arc;

const PATH: &str = "/privacy";
const SHOWN: usize = 25;
const MAX_TEXT: usize = 200;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route(PATH, get(show_privacy))
        .route("/privacy/search", post(search_customer))
        .route("/privacy/export", post(export_customer))
        .route("/privacy/erase", post(erase_customer))
        .route("/privacy/settings", post(save_settings))
}

#[derive(Template)]
#[template(path = "privacy.html")]
struct PrivacyPage {
    layout: Layout,
    t: PrivacyWords,
    fields: Vec<Field>,
    found: Option<FoundCustomer>,
    erasures: Vec<ErasureRow>,
    days: Field,
    installation_days: i64,
    problem: Option<String>,
}

struct FoundCustomer {
    orders: Vec<Row>,
    has_more: bool,
    /// What was typed, for the forms that export and erase.
    typed: Vec<(&'static str, String)>,
    erase: ConfirmDelete,
}

struct Row {
    id: OrderId,
    provider_key: String,
    provider: String,
    code: String,
    customer: String,
    phone: String,
    at: String,
    status: &'static str,
    tone: &'static str,
}

struct ErasureRow {
    at: String,
    erased: i64,
    waiting: i64,
    is_done: bool,
}

fn row(layout: &Layout, it: CustomerOrder) -> Row {
    let (order, customer) = (it.order, it.content.customer);
    Row {
        id: order.id,
        provider_key: order.provider.to_string(),
        provider: layout.provider(&order.provider),
        code: order.short_code.unwrap_or(order.provider_order_id),
        customer: customer.name.unwrap_or_default(),
        phone: customer.phone.unwrap_or_default(),
        at: layout.timestamp(&order.created_at),
        status: names::status(layout.lang, order.status),
        tone: names::status_tone(order.status),
    }
}

fn erasure_row(layout: &Layout, it: &Erasure) -> ErasureRow {
    ErasureRow {
        at: layout.timestamp(&it.created_at),
        erased: it.erased,
        waiting: it.waiting,
        is_done: it.finished_at.is_some(),
    }
}

const TYPED: [&str; 3] = ["phone", "email", "name"];

fn query(typed: &FormData) -> Result<CustomerQuery, Fault> {
    let given = |name: &str| Some(typed.get(name));
    privacy::read_query(given("phone"), given("email"), given("name"))
}

/// What the page shows besides its forms.
#[derive(Default)]
struct Shown<'a> {
    typed: Option<&'a FormData>,
    orders: Option<privacy::CustomerOrders>,
    wrong: Option<FormErrors>,
}

async fn show(api: &HttpState, user: &CurrentUser, shown: Shown<'_>) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let (app, account) = (&api.app, user.account.id);
    let settings = privacy::get_settings(app, account).await.map_err(fail)?;
    let erasures = privacy::list(app, account).await.map_err(fail)?;
    let (layout, t) = (user.layout(NavItem::Privacy), PrivacyWords::of(user.lang));
    let text = |name: &str| {
        shown
            .typed
            .map_or_else(String::new, |typed| typed.get(name).to_owned())
    };
    let mut fields = vec![
        Field::new("phone", t.phone, FieldKind::Input("tel"))
            .value(text("phone"))
            .hint(t.phone_hint)
            .length(0, MAX_TEXT),
        Field::new("email", t.email, FieldKind::Input("email"))
            .value(text("email"))
            .length(0, MAX_TEXT),
        Field::text("name", t.name)
            .value(text("name"))
            .hint(t.name_hint)
            .length(0, MAX_TEXT),
    ];
    let mut days = Field::new("anonymiseDays", t.days, FieldKind::Input("number"))
        .value(settings.own_days.to_string())
        .required();
    let label = format!("{}: {}", t.confirm, t.confirm_word);
    let mut erase = ConfirmDelete::new(
        "/privacy/erase".to_owned(),
        t.erase,
        t.erase_text,
        t.confirm_word,
        &label,
    );
    let problem = shown.wrong.as_ref().map(|wrong| {
        let all = fields.iter_mut().chain([&mut days, &mut erase.field]);
        wrong.mark(all)
    });
    let found = shown.orders.map(|found| FoundCustomer {
        orders: found.orders.into_iter().map(|it| row(&layout, it)).collect(),
        has_more: found.next.is_some(),
        typed: TYPED.into_iter().map(|name| (name, text(name))).collect(),
        erase,
    });
    let page = page(&PrivacyPage {
        erasures: erasures.iter().map(|it| erasure_row(&layout, it)).collect(),
        installation_days: settings.installation_days,
        layout,
        t,
        fields,
        found,
        days,
        problem,
    });
    Ok(form_page(page, shown.wrong.as_ref()))
}

async fn show_privacy(State(api): State<Arc<HttpState>>, user: CurrentUser) -> Result<Response, PanelError> {
    show(&api, &user, Shown::default()).await
}

/// The page with the orders of the customer that was typed.
async fn show_found(
    api: &HttpState,
    user: &CurrentUser,
    fields: &FormData,
    query: CustomerQuery,
    wrong: Option<FormErrors>,
) -> Result<Response, PanelError> {
    let orders = privacy::search(&api.app, user.by(), query, None, SHOWN)
        .await
        .map_err(|fault| user.fail(fault))?;
    let shown = Shown {
        typed: Some(fields),
        orders: Some(orders),
        wrong,
    };
    show(api, user, shown).await
}

/// The page with the error at the field of the customer that was typed.
async fn show_wrong(
    api: &HttpState,
    user: &CurrentUser,
    fields: &FormData,
    fault: Fault,
) -> Result<Response, PanelError> {
    let shown = Shown {
        typed: Some(fields),
        orders: None,
        wrong: Some(FormErrors::new(user, fault)?.of_question(user.lang)),
    };
    show(api, user, shown).await
}

async fn search_customer(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    match query(&fields) {
        Ok(query) => show_found(&api, &user, &fields, query, None).await,
        Err(fault) => show_wrong(&api, &user, &fields, fault).await,
    }
}

async fn export_customer(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let query = match query(&fields) {
        Ok(query) => query,
        Err(fault) => return show_wrong(&api, &user, &fields, fault).await,
    };
    let fail = |fault| user.fail(fault);
    let export = CustomerExport::begin(&api.app, user.by(), query)
        .await
        .map_err(fail)?;
    customer_file(Arc::clone(&api.app), export).await.map_err(fail)
}

async fn erase_customer(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let query = match query(&fields) {
        Ok(query) => query,
        Err(fault) => return show_wrong(&api, &user, &fields, fault).await,
    };
    let t = PrivacyWords::of(user.lang);
    if !is_confirmed(fields.get("confirm"), t.confirm_word) {
        let wrong = FormErrors::name_differs(user.lang);
        return show_found(&api, &user, &fields, query, Some(wrong)).await;
    }
    match privacy::start(&api.app, user.by(), ErasureId::at(api.app.now()), query).await {
        Ok(_) => Ok(user.redirect_with_notice(PATH, t.started)),
        Err(Fault::TooManyErasures) => Ok(user.redirect_with_error(PATH, t.too_many)),
        Err(fault) => Err(user.fail(fault)),
    }
}

/// Capital and small letters, with or without a dot, are the same.
fn is_confirmed(typed: &str, word: &str) -> bool {
    use garson_core::search::folded;
    folded(typed) == folded(word)
}

async fn save_settings(
    State(api): State<Arc<HttpState>>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let t = PrivacyWords::of(user.lang);
    // What is not a number is out of range.
    let days = fields.get("anonymiseDays").parse().unwrap_or(MAX_DAYS + 1);
    match privacy::set_settings(&api.app, user.by(), days).await {
        Ok(_) => Ok(user.redirect_with_notice(PATH, t.saved)),
        Err(fault @ Fault::Invalid { .. }) => {
            let wrong = Some(FormErrors::new(&user, fault)?);
            let shown = Shown {
                wrong,
                ..Shown::default()
            };
            show(&api, &user, shown).await
        }
        Err(fault) => Err(user.fail(fault)),
    }
}
