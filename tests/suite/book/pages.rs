//! Every page of the book, in both languages.

use super::source::{LANGUAGES, attributes, names};
use crate::support::{Reply, TestService, request, send};
use garson_core::search::folded;
use std::collections::BTreeSet;

cases! {
    ; sqlite_only:
    every_page_exists_in_both_languages_with_the_same_headings
    first_page_is_in_the_language_of_the_visitor
    unknown_pages_are_not_found
    unchanged_page_is_not_sent_again
    search_index_finds_words_of_both_languages
    every_markdown_file_is_a_page
}

async fn get(service: &TestService, path: &str, headers: &[(&str, &str)]) -> Reply {
    send(service.addr, &request("GET", path, headers, &[])).await
}

async fn page_names(service: &TestService) -> Vec<String> {
    names(&get(service, "/docs/en/start", &[]).await.text(), "en")
}

/// The levels of the headings below the frame, in order.
fn headings(html: &str) -> Vec<char> {
    let content = html.split("<main").nth(1).unwrap();
    content
        .match_indices("<h")
        .filter_map(|(at, _)| content[at + 2..].chars().next())
        .filter(char::is_ascii_digit)
        .collect()
}

async fn every_page_exists_in_both_languages_with_the_same_headings(service: TestService) {
    for name in page_names(&service).await {
        let mut structure = Vec::new();
        for language in LANGUAGES {
            let path = format!("/docs/{language}/{name}");
            let reply = get(&service, &path, &[]).await;
            let html = reply.text();
            assert_eq!(reply.status, 200, "{path}");
            assert_eq!(
                reply.header("content-type"),
                Some("text/html; charset=utf-8"),
                "{path}"
            );
            let policy = reply.header("content-security-policy").unwrap();
            assert!(policy.contains("script-src 'self'"), "{path}: {policy}");
            assert!(html.contains(&format!("<html lang=\"{language}\">")), "{path}");
            assert!(html.contains("aria-current=\"page\""), "{path}");
            for inline in [" style=\"", "<style", "<script>", " onclick="] {
                assert!(!html.contains(inline), "{path} has {inline}");
            }
            let other = if language == "en" { "tr" } else { "en" };
            assert!(
                attributes(&html, "href").any(|link| link == format!("/docs/{other}/{name}")),
                "{path}"
            );
            assert!(!html.contains("<!--"), "{path}: a generated part is missing");
            structure.push(headings(&html));
        }
        assert_eq!(structure[0], structure[1], "{name}");
        assert_eq!(
            structure[0].iter().filter(|level| **level == '1').count(),
            1,
            "{name}"
        );
    }
}

async fn first_page_is_in_the_language_of_the_visitor(service: TestService) {
    for (cookie, language, title) in [
        ("garson_lang=en", "en", "Start in five minutes"),
        ("garson_lang=tr", "tr", "Beş dakikada başlangıç"),
        ("x=y", "tr", "Beş dakikada başlangıç"),
    ] {
        let reply = get(&service, "/docs/", &[("cookie", cookie)]).await;
        assert_eq!(reply.status, 200);
        let html = reply.text();
        assert!(html.contains(&format!("<html lang=\"{language}\">")), "{cookie}");
        assert!(html.contains(&format!("<h1>{title}</h1>")), "{cookie}");
        assert!(
            reply.header("vary").is_some_and(|vary| vary.contains("cookie")),
            "{:?}",
            reply.header("vary")
        );
    }
    for (path, target) in [
        ("/docs", "/docs/"),
        ("/docs/en", "/docs/en/start"),
        ("/docs/tr/", "/docs/tr/start"),
        ("/docs/api", "/docs/api/"),
    ] {
        let reply = get(&service, path, &[]).await;
        assert_eq!(
            (reply.status, reply.header("location")),
            (303, Some(target)),
            "{path}"
        );
    }
}

async fn unknown_pages_are_not_found(service: TestService) {
    for path in [
        "/docs/de",
        "/docs/de/start",
        "/docs/en/nothing",
        "/docs/de/search.json",
        "/docs/en/start/x",
    ] {
        let reply = get(&service, path, &[("accept", "text/html")]).await;
        assert_eq!(reply.status, 404, "{path}");
    }
}

async fn unchanged_page_is_not_sent_again(service: TestService) {
    for path in ["/docs/", "/docs/en/errors", "/docs/tr/search.json"] {
        let first = get(&service, path, &[]).await;
        let tag = first.header("etag").unwrap().to_owned();
        assert_eq!(first.header("cache-control"), Some("no-cache"), "{path}");
        let again = get(&service, path, &[("if-none-match", &tag)]).await;
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
        let other = get(&service, path, &[("if-none-match", "W/\"0\"")]).await;
        assert_eq!(other.status, 200, "{path}");
        let pressed = get(&service, path, &[("accept-encoding", "gzip")]).await;
        assert_eq!(pressed.header("content-encoding"), Some("gzip"), "{path}");
        assert_eq!(pressed.header("etag"), Some(tag.as_str()), "{path}");
    }
}

/// The pages on which the search finds a word, as the script of the page looks for it.
async fn found(service: &TestService, language: &str, word: &str) -> BTreeSet<String> {
    let index = get(service, &format!("/docs/{language}/search.json"), &[])
        .await
        .json();
    let sections = index["sections"].as_array().unwrap();
    let word = folded(word);
    let has = |text: &str| {
        text.split(|it: char| !it.is_alphanumeric())
            .any(|it| folded(it).contains(&word))
    };
    sections
        .iter()
        .filter(|it| has(it["title"].as_str().unwrap()) || has(it["text"].as_str().unwrap()))
        .map(|it| it["path"].as_str().unwrap().split('#').next().unwrap().to_owned())
        .collect()
}

async fn search_index_finds_words_of_both_languages(service: TestService) {
    assert!(
        found(&service, "en", "idempotent")
            .await
            .contains("/docs/en/webhooks")
    );
    assert!(
        found(&service, "en", "courier")
            .await
            .contains("/docs/en/platforms")
    );
    for word in ["sipariş", "SİPARİŞ", "siparis"] {
        assert!(
            found(&service, "tr", word).await.contains("/docs/tr/first-order"),
            "{word}"
        );
    }
    assert!(
        found(&service, "tr", "yedekleme")
            .await
            .contains("/docs/tr/backup")
    );
    assert!(found(&service, "en", "zzzz").await.is_empty());
    let size = get(&service, "/docs/tr/search.json", &[]).await.body.len();
    assert!(size < 200_000, "{size} bytes");
}

async fn every_markdown_file_is_a_page(service: TestService) {
    let names: BTreeSet<String> = page_names(&service).await.into_iter().collect();
    for language in LANGUAGES {
        let folder = format!("{}/../crates/garson/book/{language}", env!("CARGO_MANIFEST_DIR"));
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .map(|name| name.strip_suffix(".md").unwrap().to_owned())
            .collect();
        assert_eq!(files, names, "{language}");
    }
}
