//! Every link of the book and of the API reference leads somewhere, anchors included.

use super::source::{LANGUAGES, attributes, names};
use crate::support::{TestService, request, send};
use std::collections::{BTreeMap, BTreeSet};

cases! {
    ; sqlite_only:
    every_link_and_anchor_resolves
    missing_anchor_is_found
}

/// Pages of the panel, which need a session, and other documents.
const ELSEWHERE: [&str; 3] = ["/", "/keys", "/openapi.json"];

/// The pages that are looked at, by their paths.
async fn pages(service: &TestService) -> BTreeMap<String, String> {
    let get = async |path: &str| send(service.addr, &request("GET", path, &[], &[])).await.text();
    let mut pages = BTreeMap::new();
    for language in LANGUAGES {
        let first = get(&format!("/docs/{language}/start")).await;
        for name in names(&first, language) {
            let path = format!("/docs/{language}/{name}");
            pages.insert(path.clone(), get(&path).await);
        }
    }
    for path in ["/docs/", "/docs/api/"] {
        pages.insert(path.to_owned(), get(path).await);
    }
    pages
}

/// The links that lead nowhere.
fn broken(pages: &BTreeMap<String, String>) -> Vec<String> {
    let anchors: BTreeMap<&str, BTreeSet<&str>> = pages
        .iter()
        .map(|(path, html)| (path.as_str(), attributes(html, "id").collect()))
        .collect();
    let mut broken = Vec::new();
    for (path, html) in pages {
        for link in attributes(html, "href").filter(|link| !link.starts_with("data:")) {
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if target.is_empty() { path.as_str() } else { target };
            let is_there = match anchors.get(target) {
                Some(ids) => anchor.is_empty() || ids.contains(anchor),
                None => ELSEWHERE.contains(&target) || target.starts_with("/assets/"),
            };
            if !is_there {
                broken.push(format!("{path}: {link}"));
            }
        }
    }
    broken
}

async fn every_link_and_anchor_resolves(service: TestService) {
    let pages = pages(&service).await;
    assert!(pages.len() > 30);
    assert_eq!(broken(&pages), Vec::<String>::new());
    for path in ELSEWHERE {
        let reply = send(service.addr, &request("GET", path, &[], &[])).await;
        assert!([200, 303].contains(&reply.status), "{path}: {}", reply.status);
    }
    for path in attributes(&pages["/docs/"], "href").filter(|it| it.starts_with("/assets/")) {
        let reply = send(service.addr, &request("GET", path, &[], &[])).await;
        assert_eq!(reply.status, 200, "{path}");
    }
    // The sections that the search leads to are there, too.
    for language in LANGUAGES {
        let path = format!("/docs/{language}/search.json");
        let index = send(service.addr, &request("GET", &path, &[], &[])).await.json();
        for section in index["sections"].as_array().unwrap() {
            let link = section["path"].as_str().unwrap();
            let (page, anchor) = link.split_once('#').unwrap_or((link, "content"));
            assert!(attributes(&pages[page], "id").any(|id| id == anchor), "{link}");
        }
    }
}

/// A check that finds nothing must be able to.
async fn missing_anchor_is_found(service: TestService) {
    let mut pages = pages(&service).await;
    let page = pages.get_mut("/docs/en/start").unwrap();
    page.push_str(
        "<a href=\"/docs/en/errors#nothing\"></a><a href=\"/docs/en/nothing\"></a><a href=\"#content\"></a>",
    );
    assert_eq!(
        broken(&pages),
        [
            "/docs/en/start: /docs/en/errors#nothing",
            "/docs/en/start: /docs/en/nothing"
        ]
    );
}
