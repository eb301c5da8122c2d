//! Explanations, refusals and timeline reasons in the user's language. English is their `Display`; Turkish is an exhaustive match,
//! so that a missing translation does not compile.

mod header;
mod message;
mod network;
mod platform;
mod target;
mod tls;

use crate::flow::admin::matching_problem::MatchingProblem;
use crate::panel::words::{DeliveryWords, Lang};
use garson_core::explanation::{Explanation, TargetRefusal};
use garson_core::field_problem::HeaderProblem;
use garson_core::order::TimelineReason;

/// What happened to an attempt, a call or an order.
pub fn text(lang: Lang, explanation: &Explanation) -> String {
    match lang {
        Lang::Tr => turkish(explanation),
        Lang::En => explanation.to_string(),
    }
}

/// What a platform answered, with the platform as the subject and its status named.
pub fn platform(lang: Lang, explanation: &Explanation) -> String {
    let Explanation::Answered { status, said } = explanation else {
        return text(lang, explanation);
    };
    let what = match (status, lang) {
        (500..=599, Lang::Tr) => "Platform hata veriyor",
        (500..=599, Lang::En) => "The platform reports an error",
        (401 | 403, Lang::Tr) => "Platform giriş bilgilerini kabul etmiyor",
        (401 | 403, Lang::En) => "The platform does not accept the credentials",
        (404 | 410, Lang::Tr) => "Platform siparişi bulamadı",
        (404 | 410, Lang::En) => "The platform did not find the order",
        (429, Lang::Tr) => "Platforma çok sık istek gönderildi",
        (429, Lang::En) => "The platform received too many requests",
        (_, Lang::Tr) => "Platform kabul etmedi",
        (_, Lang::En) => "The platform refused",
    };
    match said {
        Some(said) => format!("{what} ({status}): {said}"),
        None => format!("{what} ({status})"),
    }
}

/// The same, empty where nothing happened.
pub fn optional_platform(lang: Lang, explanation: Option<&Explanation>) -> String {
    explanation.map_or_else(String::new, |explanation| platform(lang, explanation))
}

fn turkish(explanation: &Explanation) -> String {
    match explanation {
        // A receiver's failure is `AnsweredNoSuccess`, so these are platforms.
        Explanation::Answered {
            status: status @ 500..,
            said: None,
        } => format!("platform hata veriyor ({status})"),
        Explanation::Answered {
            status: status @ 500..,
            said: Some(said),
        } => format!("platform hata veriyor ({status}): {said}"),
        Explanation::Answered { status, said: None } => format!("{status} yanıtı verdi"),
        Explanation::Answered {
            status,
            said: Some(said),
        } => format!("{status} yanıtı verdi: {said}"),
        Explanation::AnsweredRedirect { status } => {
            format!("{status} yanıtı verdi; yönlendirmeler izlenmez")
        }
        Explanation::AnsweredNoSuccess { status } => {
            format!("{status} yanıtı verdi; yalnızca 2xx başarı sayılır")
        }
        Explanation::AnsweredUnreadable { status, error } => {
            format!("{status} yanıtı verdi, okunamadı: {error}")
        }
        Explanation::Network(failure) => network::turkish(failure),
        Explanation::Tls(failure) => tls::turkish(failure),
        Explanation::Target(refusal) => target::turkish(refusal),
        Explanation::Platform(failure) => platform::turkish(failure),
        Explanation::Message(failure) => message::turkish(failure),
        Explanation::TargetNotAllowed { refusal } => {
            format!("bu adrese gönderilemez: {}", target::turkish(refusal))
        }
        Explanation::LoginRefused { cause } => format!("oturum açma reddedildi: {}", turkish(cause)),
        Explanation::LoginFailed { cause } => format!("oturum açılamadı: {}", turkish(cause)),
        Explanation::NotEnlisted { status } => {
            format!("platform bağlantıyı kabul etmedi: {status} yanıtı verdi")
        }
        Explanation::Simulator { cause } => format!("simülatör: {}", turkish(cause)),
        Explanation::SentByHand { result } => format!("elle gönderildi: {}", turkish(result)),
        Explanation::SentAgain { result } => format!(
            "{} (açık tutulan bağlantı kapanmıştı, yeni bağlantıyla yeniden gönderildi)",
            turkish(result)
        ),
        Explanation::Text { text } => text.clone(),
    }
}

/// Why a URL may not be called.
pub fn target(lang: Lang, refusal: &TargetRefusal) -> String {
    match lang {
        Lang::Tr => target::turkish(refusal),
        Lang::En => refusal.to_string(),
    }
}

/// Why a header cannot be sent along, in Turkish.
pub fn header(problem: HeaderProblem) -> String {
    header::turkish(problem)
}

/// Why the payment types of a POS are not known.
pub fn matching_problem(lang: Lang, problem: &MatchingProblem) -> String {
    if lang == Lang::En {
        return problem.to_string();
    }
    match problem {
        MatchingProblem::NoUrl => "restoranın ödeme eşleme adresi yok.".to_owned(),
        MatchingProblem::HeadersDamaged => "ödeme eşleme başlıkları bozuk.".to_owned(),
        MatchingProblem::Header { name, problem } => {
            let why = header::turkish(*problem);
            format!("{name} başlığı gönderilemez: {why}")
        }
        MatchingProblem::NotAllowed(refusal) => {
            format!("bu adrese gönderilemez: {}.", target::turkish(refusal))
        }
        MatchingProblem::Unreachable(explanation) => {
            format!("adrese ulaşılamıyor: {}.", turkish(explanation))
        }
        MatchingProblem::Answered { status } => format!("adres {status} yanıtı verdi."),
        MatchingProblem::NotAList => "adres {\"id\", \"name\"} listesi yanıtlamadı.".to_owned(),
    }
}

/// Why an order has a line in its timeline.
pub fn timeline_reason(lang: Lang, reason: &TimelineReason) -> String {
    if lang == Lang::En {
        return reason.to_string();
    }
    let text = match reason {
        TimelineReason::EscalationMessage { channel } => {
            return format!("hâlâ onaylanmadı: “{channel}” kanalıyla mesaj gönderiliyor");
        }
        TimelineReason::EscalationMessageSent { channel } => {
            return format!("“{channel}” kanalıyla mesaj gönderildi");
        }
        TimelineReason::EscalationMessageFailed { channel } => {
            return format!("“{channel}” kanalıyla mesaj gönderilemedi");
        }
        TimelineReason::EscalationMessageUnclear { channel } => {
            return format!("“{channel}” kanalıyla mesajın gidip gitmediği bilinmiyor");
        }
        TimelineReason::EscalationRang => "hâlâ onaylanmadı: sipariş ekranı acil olarak çalıyor",
        TimelineReason::EscalationVerified => "zamanında onaylanmadı: otomatik onaylandı",
        TimelineReason::EscalationCancelled => "zamanında onaylanmadı: otomatik iptal edildi",
        TimelineReason::EscalationCancelFailed => "zamanında onaylanmadı; otomatik iptal edilemedi",
        TimelineReason::Arrived => "geldi",
        TimelineReason::Verified => "onaylandı",
        TimelineReason::VerifiedAutomatically => "kendiliğinden onaylandı",
        TimelineReason::PreApprovedAndDue => "önceden onaylanmıştı, vakti geldi",
        TimelineReason::Advanced => "ilerletildi",
        TimelineReason::Reported => "platform bildirdi",
        TimelineReason::Revised => "platform siparişi değiştirdi",
        TimelineReason::UnknownToPlatform => "platformda böyle bir sipariş yok",
        TimelineReason::KnownToPlatformAgain => "sipariş platformda yeniden görünüyor",
        TimelineReason::Cancelled => "iptal edildi",
        TimelineReason::Text { text } => text,
    };
    text.to_owned()
}

/// Why an event is not delivered, by its stored word.
pub fn reason(t: &DeliveryWords, reason: &str) -> String {
    let said = match reason {
        "waiting" => t.reason_waiting,
        "earlier_event" => t.reason_earlier,
        "no_url" => t.reason_no_url,
        "url_removed" => t.reason_url_removed,
        "filtered" => t.reason_filtered,
        "endpoint_paused" => t.reason_paused,
        "endpoint_disabled" => t.reason_disabled,
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
    use garson_core::explanation::{AddressKind, ConnectionError, NetworkFailure, PlatformFailure};
    use std::time::Duration;

    #[test]
    fn explanations_are_shown_in_both_languages() {
        let by_hand = Explanation::SentByHand {
            result: Box::new(Explanation::AnsweredRedirect { status: 302 }),
        };
        let login = Explanation::LoginRefused {
            cause: Box::new(Explanation::answered(401, Some("bad key"))),
        };
        let refused = NetworkFailure::CannotConnect {
            error: ConnectionError::Refused,
        };
        let slow_name = NetworkFailure::NameNotResolvedInTime {
            name: "till.example".to_owned(),
            within: Duration::from_secs(5),
        };
        let limited = PlatformFailure::RateLimited {
            calls: 10,
            seconds: 60,
        };
        let target = TargetRefusal::ResolvesTo {
            host: "till.example".to_owned(),
            address: AddressKind::Private,
        };
        for (explanation, turkish, english) in [
            (
                Explanation::answered(200, None),
                "200 yanıtı verdi",
                "answered 200",
            ),
            (
                Explanation::answered(400, Some("no <such> order")),
                "400 yanıtı verdi: no <such> order",
                "answered 400: no <such> order",
            ),
            (
                by_hand,
                "elle gönderildi: 302 yanıtı verdi; yönlendirmeler izlenmez",
                "sent by hand: answered 302, redirects are not followed",
            ),
            (
                login,
                "oturum açma reddedildi: 401 yanıtı verdi: bad key",
                "the log-in was refused: answered 401: bad key",
            ),
            (
                refused.into(),
                "bağlanılamadı: bağlantı reddedildi",
                "cannot connect: connection refused",
            ),
            (
                slow_name.into(),
                "till.example adı 5 saniye içinde çözümlenemedi",
                "the name till.example was not resolved within 5 s",
            ),
            (
                limited.into(),
                "platform 60 saniyede 10 çağrı kabul ediyor",
                "the platform takes 10 such calls in 60 s",
            ),
            (
                target.into(),
                "till.example şuraya götürüyor: özel bir ağ adresi",
                "till.example leads to a private address",
            ),
            (
                Explanation::text("something <new>"),
                "something <new>",
                "something <new>",
            ),
        ] {
            assert_eq!(text(Lang::Tr, &explanation), turkish);
            assert_eq!(text(Lang::En, &explanation), english);
        }
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
