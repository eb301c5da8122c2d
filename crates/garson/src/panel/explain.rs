//! What happened to an attempt, in the visitor's language. It is written down in English, in a closed set of sentences;
//! one that is not among them is shown as it is.

use super::lang::Lang;
use super::words::DeliveryWords;

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

/// Sentences that are always the same.
const WHOLE: &[(&str, &str)] = &[
    ("the name has no address", "alan adının adresi yok"),
    (
        "the connection was closed before the request was sent",
        "bağlantı, istek gönderilmeden kapandı",
    ),
    (
        "the connection was closed before an answer came",
        "bağlantı yanıt gelmeden kapandı",
    ),
    (
        "the connection was reset before an answer came",
        "bağlantı yanıt gelmeden kesildi",
    ),
    (
        "the connection was closed before the answer's headers were whole",
        "bağlantı, yanıtın başlıkları tamamlanmadan kapandı",
    ),
    (
        "the connection was reset before the answer's headers were whole",
        "bağlantı, yanıtın başlıkları tamamlanmadan kesildi",
    ),
    (
        "the answer has too many headers, or too long ones",
        "yanıtın başlıkları çok fazla ya da çok uzun",
    ),
    ("the answer is not HTTP", "yanıt HTTP değil"),
    (
        "the connection was closed during the TLS handshake",
        "bağlantı TLS kurulurken kapandı",
    ),
    (
        "the connection was reset during the TLS handshake",
        "bağlantı TLS kurulurken kesildi",
    ),
    (
        "the other side shows no certificate",
        "karşı taraf sertifika göstermiyor",
    ),
    ("the other side does not speak TLS", "karşı taraf TLS konuşmuyor"),
    (
        "the other side does not keep to the rules of TLS",
        "karşı taraf TLS kurallarına uymuyor",
    ),
    (
        "the other side speaks no TLS that is still safe: 1.2 or 1.3 is needed",
        "karşı tarafın TLS sürümü güvenli değil: 1.2 ya da 1.3 gerekli",
    ),
    (
        "the other side offers no encryption that is still safe",
        "karşı taraf güvenli bir şifreleme sunmuyor",
    ),
    (
        "the other side wants a certificate of the caller, and there is none",
        "karşı taraf istemci sertifikası istiyor, o da yok",
    ),
    ("the other side ended TLS", "karşı taraf TLS bağlantısını bitirdi"),
    ("the certificate has expired", "sertifikanın süresi dolmuş"),
    (
        "the certificate is not valid yet",
        "sertifika henüz geçerli değil",
    ),
    (
        "the certificate's issuer is not trusted",
        "sertifikayı veren kuruma güvenilmiyor",
    ),
    ("the certificate was revoked", "sertifika iptal edilmiş"),
    (
        "nobody knows whether the certificate was revoked",
        "sertifikanın iptal edilip edilmediği bilinmiyor",
    ),
    (
        "the certificate is not meant for a server",
        "sertifika sunucu sertifikası değil",
    ),
    ("the certificate cannot be read", "sertifika okunamıyor"),
    (
        "the certificate is not signed by the issuer that it names",
        "sertifika, adını taşıdığı kurumca imzalanmamış",
    ),
    (
        "the certificate is signed in a way that is not supported",
        "sertifikanın imza yöntemi desteklenmiyor",
    ),
    (
        "the certificate is one of an authority, not of a server",
        "sertifika bir sunucunun değil, bir kurumun",
    ),
    ("the certificate is not valid", "sertifika geçerli değil"),
];

/// Sentences around a name or a number: what is before and behind it, in both languages.
const AROUND: &[([&str; 2], [&str; 2])] = &[
    (
        ["answered ", ", redirects are not followed"],
        ["", " yanıtı verdi; yönlendirmeler izlenmez"],
    ),
    (
        ["answered ", ", only 2xx is success"],
        ["", " yanıtı verdi; yalnızca 2xx başarı sayılır"],
    ),
    (["no answer within ", " s"], ["", " saniye içinde yanıt gelmedi"]),
    (
        ["no connection within ", " s"],
        ["", " saniye içinde bağlantı kurulamadı"],
    ),
    (
        ["no TLS connection within ", " s"],
        ["", " saniye içinde TLS bağlantısı kurulamadı"],
    ),
    (["the name ", " cannot be resolved"], ["", " adı çözümlenemedi"]),
    (["cannot connect: ", ""], ["bağlanılamadı: ", ""]),
    (["the TLS handshake failed: ", ""], ["TLS kurulamadı: ", ""]),
    (
        ["the certificate expired on ", ""],
        ["sertifikanın süresi doldu: ", ""],
    ),
    (
        ["the certificate is not valid before ", ""],
        ["sertifika şu günden önce geçerli değil: ", ""],
    ),
    (
        ["the certificate is for another name than ", ""],
        ["sertifika başka bir ad için; beklenen: ", ""],
    ),
    (
        ["the other side has no certificate for ", ""],
        ["karşı tarafta şunun için sertifika yok: ", ""],
    ),
    (
        ["the other side ended TLS with the alert ", ""],
        ["karşı taraf TLS bağlantısını bitirdi: ", ""],
    ),
];

/// What connections say of themselves.
const KINDS: &[(&str, &str)] = &[
    ("connection refused", "bağlantı reddedildi"),
    ("connection reset", "bağlantı kesildi"),
    ("connection aborted", "bağlantı kesildi"),
    ("timed out", "zaman aşımı"),
    ("host unreachable", "sunucuya ulaşılamıyor"),
    ("network unreachable", "ağa ulaşılamıyor"),
    ("network down", "ağ çalışmıyor"),
];

fn turkish(text: &str) -> Option<String> {
    if let Some((_, said)) = WHOLE.iter().find(|(known, _)| *known == text) {
        return Some((*said).to_owned());
    }
    let late = text
        .strip_prefix("the name ")
        .and_then(|rest| rest.strip_suffix(" s"));
    if let Some((name, seconds)) = late.and_then(|rest| rest.split_once(" was not resolved within ")) {
        return Some(format!("{name} adı {seconds} saniye içinde çözümlenemedi"));
    }
    if let Some(rest) = text.strip_prefix("answered ") {
        let (status, own) = rest
            .split_once(": ")
            .map_or((rest, None), |(status, own)| (status, Some(own)));
        if status.len() == 3 && status.bytes().all(|b| b.is_ascii_digit()) {
            let own = own.map_or_else(String::new, |own| format!(": {own}"));
            return Some(format!("{status} yanıtı verdi{own}"));
        }
    }
    AROUND
        .iter()
        .find_map(|([before, behind], [tr_before, tr_behind])| {
            let inner = text.strip_prefix(before)?.strip_suffix(behind)?;
            let kind = KINDS.iter().find(|(known, _)| *known == inner);
            let inner = kind.map_or(inner, |(_, said)| said);
            Some(format!("{tr_before}{inner}{tr_behind}"))
        })
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
            ("something <new>", "something <new>"),
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
