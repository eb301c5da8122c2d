//! The names of platforms as people read them.

use garson_core::channel::Language;
use garson_core::message::{MessageContent, Rendered};
use garson_core::time::Timestamp;

/// The name of the platform with this key. A key that is not known is shown as it is.
#[must_use]
pub fn platform_name(key: &str, language: Language) -> &str {
    match (key, language) {
        ("direct", Language::Tr) => "Kendi kanalım",
        ("direct", Language::En) => "Direct",
        _ => garson_platforms::find(key).map_or(key, |platform| platform.name()),
    }
}

/// The text of a message, at the time of sending.
#[must_use]
pub fn render_message(content: &MessageContent, language: Language, now: Timestamp) -> Rendered {
    content.render(language, now, |key| platform_name(key, language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_platforms_in_their_language() {
        let at = |minutes: i64| Timestamp::from_millis(1_800_000_000_000 + minutes * 60_000);
        let content = MessageContent::OrderWaiting {
            restaurant: "Deniz Burger".to_owned(),
            platform: "direct".to_owned(),
            order: "4711".to_owned(),
            arrived_at: at(0),
            accept_by: None,
        };
        let turkish = render_message(&content, Language::Tr, at(4));
        assert_eq!(
            (turkish.text.as_str(), turkish.platform.as_str()),
            (
                "Deniz Burger: Kendi kanalım 4711 numaralı sipariş 4 dakikadır onay bekliyor.",
                "Kendi kanalım"
            )
        );
        let english = render_message(&content, Language::En, at(4));
        assert_eq!(english.platform, "Direct");
        let down = MessageContent::PlatformDown {
            platform: "yemeksepeti".to_owned(),
        };
        assert_eq!(
            render_message(&down, Language::Tr, at(0)).subject,
            "Yemeksepeti yanıt vermiyor"
        );
        assert_eq!(platform_name("removed", Language::Tr), "removed");
    }
}
