//! What happened to an attempt, a call or an order, in the user's language. It is written down in English, in a closed set of
//! sentences; one that is not among them is what others have said, and shown as they say it.

mod turkish;

use crate::panel::words::{DeliveryWords, Lang};
use turkish::turkish;

const BY_HAND: &str = "sent by hand: ";
const REPEATED: &str = " (a kept connection had been closed, and it was sent again over a new one)";

/// The whole sentence.
pub fn attempt(lang: Lang, text: &str) -> String {
    if lang == Lang::En {
        return text.to_owned();
    }
    let (by_hand, text) = match text.strip_prefix(BY_HAND) {
        Some(rest) => ("elle gönderildi: ", rest),
        None => ("", text),
    };
    let (text, repeated) = match text.strip_suffix(REPEATED) {
        Some(rest) => (
            rest,
            " (açık tutulan bağlantı kapanmıştı, yeni bağlantıyla yeniden gönderildi)",
        ),
        None => (text, ""),
    };
    format!(
        "{by_hand}{}{repeated}",
        turkish(text).unwrap_or_else(|| text.to_owned())
    )
}

/// Why an event is not delivered, by the word under which that is kept.
pub fn reason(t: &DeliveryWords, reason: &str) -> String {
    let said = match reason {
        "waiting" => t.reason_waiting,
        "earlier_event" => t.reason_earlier,
        "no_url" => t.reason_no_url,
        "url_removed" => t.reason_url_removed,
        "bad_status" => t.reason_status,
        "redirect" => t.reason_redirect,
        "target_not_allowed" => t.reason_not_allowed,
        "name_not_resolved" => t.reason_name,
        "cannot_connect" => t.reason_connect,
        "tls_failed" => t.reason_tls,
        "connection_broken" => t.reason_broken,
        "timed_out" => t.reason_timed_out,
        other => other,
    };
    said.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::delivery::UndeliveredReason;

    #[test]
    fn explanations_are_said_in_turkish() {
        for (english, turkish) in [
            ("answered 200", "200 yanıtı verdi"),
            (
                "answered 400: no <such> order",
                "400 yanıtı verdi: no <such> order",
            ),
            (
                "answered 500, only 2xx is success",
                "500 yanıtı verdi; yalnızca 2xx başarı sayılır",
            ),
            (
                "sent by hand: answered 302, redirects are not followed",
                "elle gönderildi: 302 yanıtı verdi; yönlendirmeler izlenmez",
            ),
            (
                "cannot connect: connection refused",
                "bağlanılamadı: bağlantı reddedildi",
            ),
            ("no answer within 7 s", "7 saniye içinde yanıt gelmedi"),
            (
                "the name till.example cannot be resolved",
                "till.example adı çözümlenemedi",
            ),
            (
                "the name till.example was not resolved within 5 s",
                "till.example adı 5 saniye içinde çözümlenemedi",
            ),
            ("the certificate has expired", "sertifikanın süresi dolmuş"),
            (
                "the log-in was refused: answered 401: bad key",
                "oturum açma reddedildi: 401 yanıtı verdi: bad key",
            ),
            (
                "the platform takes 10 such calls in 60 s",
                "platform 60 saniyede 10 çağrı kabul ediyor",
            ),
            (
                "the target is not allowed: 127.0.0.1 is a loopback address",
                "bu adrese gönderilemez: 127.0.0.1 bu makinenin kendi adresi",
            ),
            (
                "till.example leads to a private address",
                "till.example şuraya götürüyor: özel bir ağ adresi",
            ),
            ("The paymentMatchingUrl answered 500.", "adres 500 yanıtı verdi."),
            (
                "The paymentMatchingUrl cannot be reached: cannot connect: connection refused.",
                "adrese ulaşılamıyor: bağlanılamadı: bağlantı reddedildi.",
            ),
            (
                "answered 200, unreadably: expected value",
                "200 yanıtı verdi, okunamadı: expected value",
            ),
            ("something <new>", "something <new>"),
            ("the kitchen is on fire", "the kitchen is on fire"),
            ("", ""),
        ] {
            assert_eq!(attempt(Lang::Tr, english), turkish);
            assert_eq!(attempt(Lang::En, english), english);
        }
        let repeated = format!("answered 200{REPEATED}");
        assert!(attempt(Lang::Tr, &repeated).starts_with("200 yanıtı verdi (açık tutulan"));
    }

    #[test]
    fn every_reason_has_its_words() {
        for lang in Lang::ALL {
            let t = DeliveryWords::of(lang);
            for known in UndeliveredReason::ALL {
                assert_ne!(reason(&t, known.as_str()), known.as_str());
            }
        }
    }
}
