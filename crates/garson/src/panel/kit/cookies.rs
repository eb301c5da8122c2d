//! The cookies of the panel.

use crate::panel::words::Lang;
use http::{HeaderMap, HeaderValue, header};

/// The session of a signed-in user.
pub const SESSION: &str = "garson_session";
/// The CSRF tokens of forms before signing in are derived from it.
pub const GUEST: &str = "garson_guest";
/// A browser that was signed in before: failed attempts from elsewhere do not lock it out.
pub const BROWSER: &str = "garson_browser";
pub const BROWSER_SECONDS: u32 = 400 * 24 * 60 * 60;
pub const LANGUAGE: &str = "garson_lang";
const LANGUAGE_SECONDS: u32 = 365 * 24 * 60 * 60;
/// The password was right, and the code of the second factor is missing.
pub const SECOND_STEP: &str = "garson_second_step";
/// Somebody is at the OpenID Connect provider, and comes back.
pub const OPENID: &str = "garson_openid";
pub const FLASH: &str = "garson_flash";
/// What this device shows on the board: filters and density.
pub const BOARD: &str = "garson_board";

pub fn get<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(n, value)| (n == name && !value.is_empty()).then_some(value))
}

/// The chosen language; Turkish by default.
pub fn lang(headers: &HeaderMap) -> Lang {
    get(headers, LANGUAGE)
        .and_then(Lang::from_code)
        .unwrap_or_default()
}

/// The `Set-Cookie` header of the chosen language.
pub fn language(is_https: bool, lang: Lang) -> HeaderValue {
    set(is_https, LANGUAGE, lang.code(), LANGUAGE_SECONDS)
}

/// The `Set-Cookie` header; 0 seconds removes the cookie.
pub fn set(is_https: bool, name: &str, value: &str, seconds: u32) -> HeaderValue {
    let secure = if is_https { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; SameSite=Lax; HttpOnly{secure}");
    // All values are ASCII, so this does not fail.
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_is_found_by_its_whole_name() {
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
