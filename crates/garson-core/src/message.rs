//! What a message to people says, as values; rendered in the language of its channel when it is sent.

use crate::channel::Language;
use crate::store_status::ReasonCode;
use crate::time::{Timestamp, Zone};
use serde::{Deserialize, Serialize};

/// What a message says. It holds no personal data of customers. Platforms are given by their keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum MessageContent {
    /// An order has not been accepted.
    OrderWaiting {
        restaurant: String,
        platform: String,
        order: String,
        arrived_at: Timestamp,
        accept_by: Option<Timestamp>,
    },
    WebhookFailing,
    WebhookRecovered,
    DeliveryGivenUp,
    /// A webhook endpoint kept failing and gets no more events.
    EndpointDisabled {
        endpoint: String,
    },
    LoginRefused {
        restaurant: String,
        platform: String,
    },
    PlatformDown {
        platform: String,
    },
    PlatformRecovered {
        platform: String,
    },
    LoginAccepted {
        restaurant: String,
        platform: String,
    },
    /// A platform has closed a store by itself.
    StoreClosed {
        restaurant: String,
        platform: String,
        reason: Option<ReasonCode>,
    },
    /// A store could not be opened at the end of its closing.
    StoreNotReopened {
        restaurant: String,
        platform: String,
    },
    /// A store is open although it was closed.
    StoreNotClosed {
        restaurant: String,
        platform: String,
    },
    /// The store is as it should be again.
    StoreRecovered {
        restaurant: String,
        platform: String,
    },
    /// The daily limit of notices is reached.
    Muted {
        limit: u32,
    },
    Test,
}

/// The text of a message, and the values of its placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    pub subject: String,
    pub text: String,
    pub kind: &'static str,
    pub restaurant: String,
    pub platform: String,
    /// The order's code.
    pub code: String,
    /// For how many minutes the order has waited.
    pub minutes: String,
    /// Until when it has to be accepted, such as `19:45`.
    pub accept_by: String,
}

impl Rendered {
    /// The names of all placeholders.
    pub const NAMES: [&str; 8] = [
        "text",
        "subject",
        "kind",
        "restaurant",
        "platform",
        "code",
        "minutes",
        "acceptBy",
    ];

    /// The value of a placeholder.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        Some(match name {
            "text" => &self.text,
            "subject" => &self.subject,
            "kind" => self.kind,
            "restaurant" => &self.restaurant,
            "platform" => &self.platform,
            "code" => &self.code,
            "minutes" => &self.minutes,
            "acceptBy" => &self.accept_by,
            _ => return None,
        })
    }
}

impl MessageContent {
    /// The text in a language, at the time of sending. `platform_name` gives the name of a platform by its key.
    #[must_use]
    pub fn render<'a>(
        &'a self,
        language: Language,
        now: Timestamp,
        platform_name: impl FnOnce(&'a str) -> &'a str,
    ) -> Rendered {
        let (restaurant, platform) = match self {
            Self::OrderWaiting {
                restaurant, platform, ..
            }
            | Self::LoginRefused { restaurant, platform }
            | Self::LoginAccepted { restaurant, platform }
            | Self::StoreClosed {
                restaurant, platform, ..
            }
            | Self::StoreNotReopened { restaurant, platform }
            | Self::StoreNotClosed { restaurant, platform }
            | Self::StoreRecovered { restaurant, platform } => (restaurant.as_str(), platform.as_str()),
            Self::PlatformDown { platform } | Self::PlatformRecovered { platform } => ("", platform.as_str()),
            _ => ("", ""),
        };
        let mut rendered = Rendered {
            kind: self.kind(),
            restaurant: restaurant.to_owned(),
            platform: if platform.is_empty() {
                String::new()
            } else {
                platform_name(platform).to_owned()
            },
            ..Rendered::default()
        };
        if let Self::OrderWaiting {
            order,
            arrived_at,
            accept_by,
            ..
        } = self
        {
            rendered.code.clone_from(order);
            rendered.minutes = (now.since(*arrived_at).as_secs() / 60).to_string();
            rendered.accept_by = accept_by.map(time_of_day).unwrap_or_default();
        }
        let (subject, text) = match language {
            Language::Tr => self.turkish(&rendered),
            Language::En => self.english(&rendered),
        };
        rendered.subject = subject;
        rendered.text = text;
        rendered
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::OrderWaiting { .. } => "orderWaiting",
            Self::WebhookFailing => "webhookFailing",
            Self::WebhookRecovered => "webhookRecovered",
            Self::DeliveryGivenUp => "deliveryGivenUp",
            Self::EndpointDisabled { .. } => "endpointDisabled",
            Self::LoginRefused { .. } => "loginRefused",
            Self::LoginAccepted { .. } => "loginAccepted",
            Self::PlatformDown { .. } => "platformDown",
            Self::PlatformRecovered { .. } => "platformRecovered",
            Self::StoreClosed { .. } => "storeClosed",
            Self::StoreNotReopened { .. } => "storeNotReopened",
            Self::StoreNotClosed { .. } => "storeNotClosed",
            Self::StoreRecovered { .. } => "storeRecovered",
            Self::Muted { .. } => "muted",
            Self::Test => "test",
        }
    }

    fn turkish(&self, it: &Rendered) -> (String, String) {
        let Rendered {
            restaurant,
            platform,
            code,
            minutes,
            accept_by,
            ..
        } = it;
        match self {
            Self::OrderWaiting { accept_by: until, .. } => {
                let until = until.map_or(String::new(), |_| format!(" Son onay saati {accept_by}."));
                let order = match minutes.as_str() {
                    "0" => format!("{code} numaralı yeni sipariş"),
                    _ => format!("{code} numaralı sipariş {minutes} dakikadır"),
                };
                (
                    format!("{code} numaralı sipariş onay bekliyor"),
                    format!("{restaurant}: {platform} {order} onay bekliyor.{until}"),
                )
            }
            Self::WebhookFailing => (
                "Siparişler kasaya iletilemiyor".to_owned(),
                "Webhook alıcınız yanıt vermiyor veya hata veriyor. Siparişler kasaya iletilemiyor; panelden takip edin."
                    .to_owned(),
            ),
            Self::WebhookRecovered => (
                "Siparişler yeniden kasaya iletiliyor".to_owned(),
                "Webhook alıcınız yeniden çalışıyor.".to_owned(),
            ),
            Self::EndpointDisabled { endpoint } => (
                "Webhook alıcısı kapatıldı".to_owned(),
                format!(
                    "{endpoint} uzun süredir hata verdiği için kapatıldı; artık olay almıyor. Düzelttikten sonra panelde Webhook \
                     alıcıları sayfasından açabilir ve kaçırdığı olayları yeniden gönderebilirsiniz."
                ),
            ),
            Self::DeliveryGivenUp => (
                "İletilemeyen olaylar var".to_owned(),
                "Bazı olaylar tüm denemelere rağmen webhook alıcınıza iletilemedi. Panelde Webhook sayfasından yeniden \
                 gönderebilirsiniz."
                    .to_owned(),
            ),
            Self::LoginRefused { .. } => (
                format!("{platform} girişi reddetti"),
                format!(
                    "{restaurant}: {platform} giriş bilgilerini kabul etmiyor. Panelde Entegrasyonlar sayfasından güncelleyin."
                ),
            ),
            Self::LoginAccepted { .. } => (
                format!("{platform} girişi düzeldi"),
                format!("{restaurant}: {platform} bağlantısı yeniden çalışıyor."),
            ),
            Self::PlatformDown { .. } => (
                format!("{platform} yanıt vermiyor"),
                format!("{platform} sistemine ulaşılamıyor. Gelen siparişleri platformun kendi ekranından da takip edin."),
            ),
            Self::PlatformRecovered { .. } => (
                format!("{platform} yeniden çalışıyor"),
                format!("{platform} sistemine yeniden ulaşılıyor."),
            ),
            Self::StoreClosed { reason, .. } => {
                let why = reason.map_or(String::new(), |code| format!(" Neden: {}.", code.texts().0));
                (
                    format!("{platform} restoranı kapattı"),
                    format!(
                        "{restaurant}: {platform} restoranı siparişe kapattı.{why} Panelden yeniden açabilirsiniz."
                    ),
                )
            }
            Self::StoreNotReopened { .. } => (
                format!("{platform} yeniden açılamadı"),
                format!(
                    "{restaurant}: Süre doldu ama {platform} açılamadı; denemeye devam ediliyor. Platformun kendi ekranından \
                     kontrol edin."
                ),
            ),
            Self::StoreNotClosed { .. } => (
                format!("{platform} hâlâ açık"),
                format!(
                    "{restaurant}: {platform} kapatılmıştı ama platform sipariş almayı sürdürüyor. Panelden kontrol edin."
                ),
            ),
            Self::StoreRecovered { .. } => (
                format!("{platform} düzeldi"),
                format!("{restaurant}: {platform} artık olması gerektiği gibi."),
            ),
            Self::Muted { limit } => (
                "Bugünlük bildirim sınırına ulaşıldı".to_owned(),
                format!(
                    "Bugün {limit} bildirim gönderildi. Yarına kadar başka bildirim gönderilmeyecek; durumu panelden takip edin."
                ),
            ),
            Self::Test => (
                "Test mesajı".to_owned(),
                "Bu bir test mesajıdır. Bu kanal çalışıyor.".to_owned(),
            ),
        }
    }

    fn english(&self, it: &Rendered) -> (String, String) {
        let Rendered {
            restaurant,
            platform,
            code,
            minutes,
            accept_by,
            ..
        } = it;
        match self {
            Self::OrderWaiting { accept_by: until, .. } => {
                let until = until.map_or(String::new(), |_| format!(" It must be accepted by {accept_by}."));
                let order = match minutes.as_str() {
                    "0" => format!("new {platform} order {code} is waiting"),
                    _ => format!("{platform} order {code} has been waiting for {minutes} min"),
                };
                (
                    format!("Order {code} is not accepted yet"),
                    format!("{restaurant}: {order} to be accepted.{until}"),
                )
            }
            Self::WebhookFailing => (
                "Orders do not reach your POS".to_owned(),
                "Your webhook receiver does not answer or returns errors. Orders do not reach your POS; use the panel."
                    .to_owned(),
            ),
            Self::WebhookRecovered => (
                "Orders reach your POS again".to_owned(),
                "Your webhook receiver works again.".to_owned(),
            ),
            Self::EndpointDisabled { endpoint } => (
                "A webhook endpoint was disabled".to_owned(),
                format!(
                    "{endpoint} has failed for a long time and was disabled: it gets no more events. When it works again, enable it \
                     on the Webhook endpoints page of the panel, and resend what it has missed."
                ),
            ),
            Self::DeliveryGivenUp => (
                "Some events could not be delivered".to_owned(),
                "Some events were given up after the last attempt. You can resend them on the Webhook page of the panel."
                    .to_owned(),
            ),
            Self::LoginRefused { .. } => (
                format!("{platform} refuses the log-in"),
                format!(
                    "{restaurant}: {platform} does not accept the credentials. Update them on the Integrations page of the \
                     panel."
                ),
            ),
            Self::LoginAccepted { .. } => (
                format!("{platform} accepts the log-in again"),
                format!("{restaurant}: the connection to {platform} works again."),
            ),
            Self::PlatformDown { .. } => (
                format!("{platform} does not answer"),
                format!("{platform} cannot be reached. Watch the platform's own screen for new orders as well."),
            ),
            Self::PlatformRecovered { .. } => (
                format!("{platform} works again"),
                format!("{platform} can be reached again."),
            ),
            Self::StoreClosed { reason, .. } => {
                let why = reason.map_or(String::new(), |code| format!(" Reason: {}.", code.texts().1));
                (
                    format!("{platform} has closed the restaurant"),
                    format!(
                        "{restaurant}: {platform} has stopped taking orders for the restaurant.{why} You can open it again in \
                         the panel."
                    ),
                )
            }
            Self::StoreNotReopened { .. } => (
                format!("{platform} could not be opened again"),
                format!(
                    "{restaurant}: the time is over, but {platform} could not be opened. It is tried again; check the \
                     platform's own screen."
                ),
            ),
            Self::StoreNotClosed { .. } => (
                format!("{platform} is still open"),
                format!("{restaurant}: {platform} was closed but still takes orders. Check it in the panel."),
            ),
            Self::StoreRecovered { .. } => (
                format!("{platform} is as it should be again"),
                format!("{restaurant}: {platform} is as it should be again."),
            ),
            Self::Muted { limit } => (
                "Daily limit of notices reached".to_owned(),
                format!(
                    "{limit} notices were sent today. No more will be sent until tomorrow; the panel shows the current state."
                ),
            ),
            Self::Test => (
                "Test message".to_owned(),
                "This is a test message. This channel works.".to_owned(),
            ),
        }
    }
}

fn time_of_day(at: Timestamp) -> String {
    Zone::istanbul().write(at, "%H:%M")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_order_is_described_in_both_languages() {
        let at = |minutes: i64| Timestamp::from_millis(1_800_000_000_000 + minutes * 60_000);
        let content = MessageContent::OrderWaiting {
            restaurant: "Deniz Burger".to_owned(),
            platform: "getir".to_owned(),
            order: "4711".to_owned(),
            arrived_at: at(0),
            accept_by: None,
        };
        let render = |language, now| content.render(language, now, |_| "Getir");
        let turkish = render(Language::Tr, at(4));
        assert_eq!(
            turkish.text,
            "Deniz Burger: Getir 4711 numaralı sipariş 4 dakikadır onay bekliyor."
        );
        let english = render(Language::En, at(4));
        assert_eq!(
            english.text,
            "Deniz Burger: Getir order 4711 has been waiting for 4 min to be accepted."
        );
        // No duration is given in the first minute.
        assert_eq!(
            render(Language::Tr, at(0)).text,
            "Deniz Burger: Getir 4711 numaralı yeni sipariş onay bekliyor."
        );
        assert_eq!(
            render(Language::En, at(0)).text,
            "Deniz Burger: new Getir order 4711 is waiting to be accepted."
        );
        for name in Rendered::NAMES {
            assert!(english.value(name).is_some(), "{name}");
        }
    }
}
