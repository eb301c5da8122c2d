//! Addresses from messages: which of them are called.

use garson_core::platform::Link;

/// A message's address is called where the operator's own leads to the same place, or where the operator allows its host: the
/// session's token goes there.
pub fn may_be_called(url: &str, link: &Link<'_>) -> bool {
    is_below(url, link.base) || is_on_allowed_host(url, link)
}

fn is_below(url: &str, base: &str) -> bool {
    !base.is_empty() && url.strip_prefix(base).is_some_and(is_path)
}

fn is_on_allowed_host(url: &str, link: &Link<'_>) -> bool {
    // The transport must be as safe as that to the operator's own URL.
    let schemes: &[&str] = if link.base.starts_with("http://") {
        &["https://", "http://"]
    } else {
        &["https://"]
    };
    let Some(rest) = schemes.iter().find_map(|scheme| url.strip_prefix(scheme)) else {
        return false;
    };
    let Some((host, path)) = rest.find('/').and_then(|at| rest.split_at_checked(at)) else {
        return false;
    };
    let is_allowed = |allowed: &String| allowed.eq_ignore_ascii_case(host);
    link.callback_hosts.iter().any(is_allowed) && is_path(path)
}

/// A path, with or without a query, that stays where it begins.
fn is_path(path: &str) -> bool {
    let is_plain = path
        .bytes()
        .all(|b| b.is_ascii_graphic() && b != b'\\' && b != b'#');
    let lower = path.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/");
    let before_query = lower.split('?').next().unwrap_or_default();
    let climbs = before_query.split('/').any(|part| part == "." || part == "..");
    path.starts_with('/') && is_plain && !climbs
}
