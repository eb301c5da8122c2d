//! What the panel leaves in a browser: who is signed in, who is not yet, the language, and what is to be said next.

use http::{HeaderMap, HeaderValue, header};

/// What somebody holds who is signed in.
pub const SESSION: &str = "garson_session";
/// What somebody holds who is not: the forms before signing in are bound to it.
pub const GUEST: &str = "garson_guest";
/// What stays in a browser on which somebody was signed in: strangers who guess passwords do not lock it out.
pub const BROWSER: &str = "garson_browser";
pub const BROWSER_SECONDS: u32 = 400 * 24 * 60 * 60;
pub const LANGUAGE: &str = "garson_lang";
pub const FLASH: &str = "garson_flash";

/// A cookie's value.
pub fn get<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(n, value)| (n == name && !value.is_empty()).then_some(value))
}

/// The header that leaves a cookie for so many seconds; none removes it. What came over TLS goes back over nothing else.
pub fn set(is_secure: bool, name: &str, value: &str, seconds: u32) -> HeaderValue {
    let secure = if is_secure { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; SameSite=Lax; HttpOnly{secure}");
    // Our values are plain ASCII; a cookie that cannot be written is as good as none.
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_by_its_whole_name() {
        let mut headers = HeaderMap::new();
        headers.append(
            header::COOKIE,
            HeaderValue::from_static("a=1; garson_lang=en;b=2"),
        );
        headers.append(header::COOKIE, HeaderValue::from_static("c=; d=x=y"));
        assert_eq!(get(&headers, LANGUAGE), Some("en"));
        assert_eq!(get(&headers, "lang"), None);
        assert_eq!(get(&headers, "c"), None);
        assert_eq!(get(&headers, "d"), Some("x=y"));
    }
}
