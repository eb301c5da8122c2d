//! Pages of a list: which one an address asks for, and the ways on from it.

use super::fields::Fields;
use super::form::Pager;
use crate::http::cursor::Cursor;
use garson_store::lists::feed::{Direction, Page, PageRequest};

/// The page that an address asks for; a cursor that was never given out is the first page.
pub fn wanted(asked: &Fields, limit: usize) -> PageRequest {
    let cursor = Cursor::parse(asked.get("cursor")).map(|Cursor(place)| place);
    PageRequest {
        limit,
        cursor,
        direction: match (cursor, asked.get("dir")) {
            (Some(_), "prev") => Direction::Newer,
            _ => Direction::Older,
        },
    }
}

/// The ways on from a page, to the same list with the same filters.
pub fn ways<T>(path: &str, filters: &[(&str, &str)], request: PageRequest, page: &Page<T>) -> Pager {
    let to = |place: i64, direction: &str| {
        let cursor = Cursor(place).to_string();
        let mut all = filters.to_vec();
        all.extend([("cursor", cursor.as_str()), ("dir", direction)]);
        address(path, &all)
    };
    // Towards newer ones an unfull page is the first; and so is one that no cursor led to.
    let is_first = match request.direction {
        Direction::Older => request.cursor.is_none(),
        Direction::Newer => page.items.len() < request.limit,
    };
    Pager {
        newer: page.prev.filter(|_| !is_first).map(|place| to(place, "prev")),
        older: page.next.map(|place| to(place, "")),
    }
}

/// A path with what stands behind its `?`; what is empty is left out.
pub fn address(path: &str, fields: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        query.append_pair(name, value);
    }
    match query.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_keep_the_filters_and_end_at_both_ends() {
        let page = |count, next| Page {
            items: vec![(); count],
            next,
            prev: Some(9),
        };
        let asked = |text: &str| wanted(&Fields::parse(text.as_bytes()), 2);
        let first = ways("/x", &[("a", "ı&"), ("b", "")], asked(""), &page(2, Some(7)));
        assert_eq!(first.newer, None);
        assert_eq!(
            first.older.as_deref(),
            Some("/x?a=%C4%B1%26&cursor=0000000000000007")
        );
        let second = asked("cursor=0000000000000007");
        assert_eq!((second.cursor, second.direction), (Some(7), Direction::Older));
        let second = ways("/x", &[], second, &page(1, None));
        assert_eq!(
            second.newer.as_deref(),
            Some("/x?cursor=0000000000000009&dir=prev")
        );
        assert_eq!(second.older, None);
        let back = asked("cursor=0000000000000009&dir=prev");
        assert_eq!(back.direction, Direction::Newer);
        assert_eq!(ways("/x", &[], back, &page(1, Some(8))).newer, None);
        assert_eq!(asked("cursor=nonsense&dir=prev").direction, Direction::Older);
    }
}
