//! The Markdown of the book, read by the tests, with the samples in it.
//!
//! A sample is a fenced block. What its info string says, and what the tests do with it:
//!
//! - `sh`: it is run, in the order of the book, in one shell with its variables.
//! - `json response`: the last JSON that the block of commands before it has printed has all of it.
//! - `json event`: an event of the account has all of it.
//! - `text output`: what the block of commands before it has printed has each of its lines.
//! - `toml`: a configuration file that the program accepts.
//! - any language with `not-run="reason"`: it is not run; `samples.rs` lists every one.
//!
//! "Has all of it": every field of the sample, with the same value; lists are of the same length. `…` stands for any text. Another
//! info string fails the tests.

use std::path::Path;

pub const LANGUAGES: [&str; 2] = ["en", "tr"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Commands,
    Response,
    Event,
    Output,
    Settings,
    NotRun(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub kind: Kind,
    pub text: String,
}

fn kind(info: &str) -> Kind {
    if let Some((_, reason)) = info.split_once("not-run=\"") {
        let reason = reason.strip_suffix('"').unwrap();
        assert!(!reason.is_empty(), "a block that is not run needs a reason");
        return Kind::NotRun(reason.to_owned());
    }
    match info {
        "sh" => Kind::Commands,
        "json response" => Kind::Response,
        "json event" => Kind::Event,
        "text output" => Kind::Output,
        "toml" => Kind::Settings,
        other => panic!("unknown kind of sample: {other:?}"),
    }
}

/// The samples of a page, in order.
pub fn samples(language: &str, page: &str) -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/garson/book");
    let file = folder.join(language).join(format!("{page}.md"));
    let source = std::fs::read_to_string(&file).unwrap();
    let mut found = Vec::new();
    let mut open: Option<Sample> = None;
    for line in source.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                open = Some(Sample {
                    kind: kind(info),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some(sample)) => {
                sample.text.push_str(line);
                sample.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert_eq!(open, None, "{language}/{page} has an open block");
    found
}

/// The names of the pages in the order of the navigation of a page.
pub fn names(html: &str, language: &str) -> Vec<String> {
    let prefix = format!("/docs/{language}/");
    let nav = html.split("class=\"contents book\"").nth(1).unwrap();
    let nav = nav.split("</nav>").next().unwrap();
    let names: Vec<String> = attributes(nav, "href")
        .filter_map(|link| link.strip_prefix(&prefix).map(str::to_owned))
        .collect();
    assert!(names.len() > 15, "{names:?}");
    names
}

/// The values of an attribute in a text of HTML.
pub fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let start = format!(" {name}=\"");
    let mut rest = html;
    std::iter::from_fn(move || {
        let at = rest.find(&start)?;
        let (value, after) = rest[at + start.len()..].split_once('"')?;
        rest = after;
        Some(value)
    })
}
