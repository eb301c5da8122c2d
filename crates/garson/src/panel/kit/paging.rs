//! Paging of lists with cursors in the query string.

use super::form_data::FormData;
use crate::http::cursor::Cursor;
use garson_store::lists::feed::{Direction, Page, PageRequest};

/// The links to the previous and the next page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pager {
    pub newer: Option<String>,
    pub older: Option<String>,
}

/// The requested page. An invalid cursor means the first page.
pub fn page_request(params: &FormData, limit: usize) -> PageRequest {
    let cursor = Cursor::parse(params.get("cursor")).map(|Cursor(position)| position);
    PageRequest {
        limit,
        cursor,
        direction: match (cursor, params.get("dir")) {
            (Some(_), "prev") => Direction::Newer,
            _ => Direction::Older,
        },
    }
}

/// The links from a page to its neighbours, with the same filters.
pub fn pager<T>(path: &str, filters: &[(&str, &str)], request: PageRequest, page: &Page<T>) -> Pager {
    let link = |position: i64, direction: &str| {
        let cursor = Cursor(position).to_string();
        let mut all = filters.to_vec();
        all.extend([("cursor", cursor.as_str()), ("dir", direction)]);
        url(path, &all)
    };
    // `prev` is always set; on the first page it leads nowhere.
    let is_first = match request.direction {
        Direction::Older => request.cursor.is_none(),
        Direction::Newer => page.items.len() < request.limit,
    };
    Pager {
        newer: page
            .prev
            .filter(|_| !is_first)
            .map(|position| link(position, "prev")),
        older: page.next.map(|position| link(position, "")),
    }
}

/// A path with a query string. Empty parameters are left out.
pub fn url(path: &str, fields: &[(&str, &str)]) -> String {
    let mut query = ::url::form_urlencoded::Serializer::new(String::new());
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
    fn links_keep_the_filters_and_end_at_both_ends() {
        let page = |count, next| Page {
            items: vec![(); count],
            next,
            prev: Some(9),
        };
        let request = |text: &str| page_request(&FormData::parse(text.as_bytes()), 2);
        let first = pager("/x", &[("a", "ı&"), ("b", "")], request(""), &page(2, Some(7)));
        assert_eq!(first.newer, None);
        assert_eq!(
            first.older.as_deref(),
            Some("/x?a=%C4%B1%26&cursor=0000000000000007")
        );
        let second = request("cursor=0000000000000007");
        assert_eq!((second.cursor, second.direction), (Some(7), Direction::Older));
        let second = pager("/x", &[], second, &page(1, None));
        assert_eq!(
            second.newer.as_deref(),
            Some("/x?cursor=0000000000000009&dir=prev")
        );
        assert_eq!(second.older, None);
        let back = request("cursor=0000000000000009&dir=prev");
        assert_eq!(back.direction, Direction::Newer);
        assert_eq!(pager("/x", &[], back, &page(1, Some(8))).newer, None);
        assert_eq!(request("cursor=nonsense&dir=prev").direction, Direction::Older);
    }
}
