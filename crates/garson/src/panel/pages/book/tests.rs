use super::*;
use crate::http::error::Code;
use garson_core::delivery::UndeliveredReason;
use std::collections::BTreeSet;

fn rendered(page: &Page, lang: Lang) -> Rendered {
    markdown::render(&generated::text(page, lang), lang)
}

#[test]
fn languages_have_the_same_structure() {
    for page in PAGES {
        let levels = Lang::ALL
            .map(|lang| -> Vec<u8> { rendered(page, lang).sections.iter().map(|it| it.level).collect() });
        assert_eq!(levels[0], levels[1], "{}", page.name);
        assert_eq!(levels[0].first(), Some(&1), "{}", page.name);
    }
}

#[test]
fn every_error_code_says_what_to_do() {
    let page = contents::find("errors").unwrap();
    for lang in Lang::ALL {
        let html = rendered(page, lang).html;
        for code in Code::ALL {
            let shown = format!("<code>{}</code>", code.as_str());
            assert_eq!(html.matches(&shown).count(), 1, "{shown}");
        }
    }
}

#[test]
fn every_reason_of_an_undelivered_event_says_what_to_do() {
    let page = contents::find("troubleshoot").unwrap();
    for lang in Lang::ALL {
        let html = rendered(page, lang).html;
        for reason in UndeliveredReason::ALL {
            let shown = format!("<th scope=\"row\"><code>{}</code></th>", reason.as_str());
            assert_eq!(html.matches(&shown).count(), 1, "{shown}");
        }
    }
}

#[test]
fn every_platform_is_described() {
    let page = contents::find("platforms").unwrap();
    for lang in Lang::ALL {
        let html = rendered(page, lang).html;
        for platform in garson_platforms::all() {
            assert!(html.contains(&format!("<code>{}</code>", platform.provider().as_str())));
            for field in platform.credential_fields() {
                assert!(
                    html.contains(&format!("<code>{}</code>", field.name)),
                    "{}",
                    field.name
                );
            }
        }
        assert!(!html.contains("generated"));
    }
}

#[test]
fn anchors_are_unique_and_plain() {
    for page in PAGES {
        for lang in Lang::ALL {
            let mut seen = BTreeSet::new();
            for section in rendered(page, lang).sections.iter().skip(1) {
                let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || "-_".contains(it);
                assert!(
                    section.id.chars().all(is_plain) && !section.id.is_empty(),
                    "{}",
                    section.id
                );
                assert!(seen.insert(section.id.clone()), "{}: {}", page.name, section.id);
            }
        }
    }
}

#[test]
fn markup_is_escaped_and_links_lead_to_pages() {
    let source = "# A\n\n## Sipariş İptali & x\n\nx <script>alert(1)</script> `<b>` [b](actions.md#c) [d](/docs/api/)\n\n| H |\n|---|\n| a |\n";
    let Rendered { html, sections } = markdown::render(source, Lang::Tr);
    assert!(
        !html.contains("<script") && html.contains("<code>&lt;b&gt;</code>"),
        "{html}"
    );
    assert!(html.contains("href=\"/docs/tr/actions#c\"") && html.contains("href=\"/docs/api/\""));
    assert!(html.contains("<th scope=\"row\">a</th>"), "{html}");
    assert_eq!(sections[1].id, "siparis-iptali-x");
}

#[test]
fn unchanged_page_is_not_sent_again() {
    let mut headers = HeaderMap::new();
    let page = PAGES.first().unwrap();
    let first = answer_page(&headers, Lang::En, page);
    assert_eq!(first.status(), StatusCode::OK);
    let tag = first.headers().get(header::ETAG).unwrap().clone();
    headers.insert(header::IF_NONE_MATCH, tag);
    assert_eq!(
        answer_page(&headers, Lang::En, page).status(),
        StatusCode::NOT_MODIFIED
    );
    assert_eq!(answer_page(&headers, Lang::Tr, page).status(), StatusCode::OK);
}
