//! Every component of the panel in its states, in debug builds: to look at while changing styles.

mod samples;

use crate::http::state::HttpState;
use crate::panel::components::card::{BoardColumn, Card};
use crate::panel::components::kitchen_card::KitchenCard;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::short_id::ShortId;
use crate::panel::kit::time_ago::TimeAgo;
use crate::panel::words::{BoardWords, ComponentListWords};
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use garson_core::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

const PATH: &str = "/panel/components";

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route(PATH, get(show_components))
}

#[derive(Template)]
#[template(path = "component_list.html")]
struct ComponentListPage {
    layout: Layout,
    t: ComponentListWords,
    fields: Vec<Field>,
    /// Key and name.
    platforms: Vec<(String, String)>,
    rows: Vec<Row>,
    columns: Vec<Column>,
    kitchen: Vec<KitchenCard>,
    tickets: Vec<String>,
}

struct Row {
    id: ShortId,
    at: TimeAgo,
    state: (&'static str, &'static str),
    total: &'static str,
}

struct Column {
    name: &'static str,
    title: &'static str,
    cards: Vec<Card>,
}

fn fields(t: &ComponentListWords) -> Vec<Field> {
    let choices = vec![
        Choice::new("1", t.choice_one, true),
        Choice::new("2", t.choice_two, false),
    ];
    vec![
        Field::text("name", t.name)
            .value("Moda Lokantası")
            .hint(t.name_hint),
        Field::text("wrong", t.name)
            .hint(t.name_hint)
            .error(Some(t.missing))
            .required(),
        Field::new("choice", t.choice, FieldKind::Select(choices)),
        Field::new("note", t.note, FieldKind::Textarea),
        Field::new("tick", t.tick, FieldKind::Checkbox(true)),
    ]
}

fn rows(layout: &Layout, t: &ComponentListWords, now: Timestamp) -> Vec<Row> {
    let row = |id: &str, minutes: u64, state, total| Row {
        id: ShortId::new(id),
        at: layout.time_ago(&now.minus(Duration::from_secs(minutes * 60))),
        state,
        total,
    };
    vec![
        row("948123456789", 0, ("main", t.new), "137,90 ₺"),
        row("6afcee50e51c0e16ce2e10af", 2, ("good", t.good), "1.264,90 ₺"),
        row(
            "0gEz3WADJ0H5HRYUrKESAtlw8uMRtLA0BGCIqFLC34MARhlsz8qoKE7ETIivk9nf",
            90,
            ("warn", t.warn),
            "43,40 ₺",
        ),
        row("A-17", 60 * 50, ("bad", t.bad), "9,00 ₺"),
    ]
}

fn columns(layout: &Layout, t: &ComponentListWords, now: Timestamp) -> Vec<Column> {
    let words = BoardWords::of(layout.lang);
    let card = |sample| Card::new(layout.lang, &layout.csrf, PATH, sample, now);
    let mut cards: Vec<Card> = samples::cards(now).into_iter().map(card).collect();
    cards.push(card(samples::failed(now)).with_error(t.failed.to_owned()));
    let mut columns: Vec<Column> = BoardColumn::ALL
        .into_iter()
        .map(|column| Column {
            name: column.name(),
            title: match column {
                BoardColumn::New => words.new,
                BoardColumn::Preparing => words.preparing,
                BoardColumn::OnTheWay => words.on_the_way,
                BoardColumn::Done => words.done,
            },
            cards: Vec::new(),
        })
        .collect();
    for card in cards {
        if let Some(column) = columns.iter_mut().find(|it| it.name == card.column.name()) {
            column.cards.push(card);
        }
    }
    columns
}

async fn show_components(State(api): State<Arc<HttpState>>, user: CurrentUser) -> Response {
    let (layout, now) = (user.layout(NavItem::None), api.app.now());
    let t = ComponentListWords::of(user.lang);
    let kitchen = |sample| KitchenCard::new(user.lang, &user.csrf, PATH, sample, now);
    page(&ComponentListPage {
        fields: fields(&t),
        platforms: garson_platforms::all()
            .iter()
            .map(|it| (it.provider().to_string(), layout.provider(&it.provider())))
            .collect(),
        rows: rows(&layout, &t, now),
        columns: columns(&layout, &t, now),
        kitchen: samples::kitchen(now).into_iter().map(kitchen).collect(),
        tickets: samples::tickets(user.lang, now),
        t,
        layout,
    })
}
