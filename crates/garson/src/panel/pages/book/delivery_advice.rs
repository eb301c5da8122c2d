//! What each reason for which an event is not delivered means and what to do about it, in both languages. A reason without its texts
//! does not compile.

use super::error_advice::Advice;
use crate::panel::words::Lang;
use garson_core::delivery::UndeliveredReason;

/// `Reason: "meaning", "what to do"` in Turkish and, after the bar, in English.
macro_rules! advice {
    ($($reason:ident: $tr_meaning:literal, $tr_do:literal | $en_meaning:literal, $en_do:literal,)*) => {
        pub fn advice(reason: UndeliveredReason, lang: Lang) -> Advice {
            let (meaning, what_to_do) = match (reason, lang) {
                $((UndeliveredReason::$reason, Lang::Tr) => ($tr_meaning, $tr_do),
                (UndeliveredReason::$reason, Lang::En) => ($en_meaning, $en_do),)*
            };
            Advice { meaning, what_to_do }
        }
    };
}

advice! {
    Waiting:
        "Olay ilk denemeyi bekliyor.", "Bir şey gerekmez. Uzun sürerse aynı alıcıya giden öteki olayların nedenine bakın. Hesap kapatılmışsa olaylar açılana kadar bekler."
        | "The event waits for its first attempt.", "Nothing. If it takes long, look at the reasons of other events of this receiver. Events of a disabled account wait until it is enabled.",
    Earlier:
        "Aynı siparişin önceki olayı daha teslim edilmedi.", "Önceki olayın nedenine bakın. O iki kez başarısız olunca bu da gönderilir."
        | "The previous event of the same order is not delivered yet.", "Look at the reason of that one. When it has failed twice, this one is sent too.",
    NoUrl:
        "Olay sırasında kayıtlı adres yoktu.", "Adresi kaydedin, sonra `garson webhook retry` komutunu `--include-skipped` ile çalıştırın."
        | "No address was registered when the event happened.", "Register one, then run `garson webhook retry` with `--include-skipped`.",
    UrlRemoved:
        "Adres, olay teslim edilemeden kaldırıldı.", "Bilerek kaldırıldıysa bir şey gerekmez. Değilse yeniden kaydedin ve `garson webhook retry` komutunu `--include-skipped` ile çalıştırın."
        | "The address was removed before the event was delivered.", "Nothing, if that was intended. Otherwise register it again, and run `garson webhook retry` with `--include-skipped`.",
    Filtered:
        "Uç noktanın süzgeci bu olayı istemiyor.", "İstediğiniz buysa bir şey gerekmez. Değilse uç noktanın `events`, `restaurantIds` ve `platforms` alanlarını değiştirin; sonraki olaylar için geçerlidir."
        | "The filter of the endpoint excludes this event.", "Nothing, if that is intended. Otherwise change `events`, `restaurantIds` and `platforms` of the endpoint; this applies to later events.",
    EndpointPaused:
        "Uç nokta duraklatılmıştı.", "`isActive: true` ile yeniden açın. Atlananları `POST /webhook-endpoints/{id}/deliveries/retry` ve `includeSkipped` ile gönderin."
        | "The endpoint was paused.", "Activate it with `isActive: true`. Send what was skipped with `POST /webhook-endpoints/{id}/deliveries/retry` and `includeSkipped`.",
    EndpointDisabled:
        "Uç nokta uzun süre hiçbir olayı kabul etmediği için kapatılmıştı (`webhook.disable_after_hours`).", "Alıcıyı düzeltin, `isActive: true` ile yeniden açın. Atlananları `POST /webhook-endpoints/{id}/deliveries/retry` ve `includeSkipped` ile gönderin."
        | "The endpoint was disabled, because it had accepted nothing for a long time (`webhook.disable_after_hours`).", "Correct the receiver and activate it with `isActive: true`. Send what was skipped with `POST /webhook-endpoints/{id}/deliveries/retry` and `includeSkipped`.",
    Status:
        "Alıcı 2xx dışında bir yanıt verdi.", "Yanıt gönderimin yanında saklanır; nedenini alıcınızın günlüğünde arayın."
        | "The receiver's answer was not 2xx.", "The answer is stored with the delivery; look for the cause in the log of the receiver.",
    Redirect:
        "Alıcı başka bir adrese yönlendirdi.", "Son adresi kaydedin; yönlendirmeler izlenmez."
        | "The receiver redirected to another address.", "Register the final address; redirects are not followed.",
    NotAllowed:
        "Adres özel bir ağda ya da yasak; istek gönderilmedi.", "Herkese açık bir adres kaydedin. İşletmeci `allow_targets` ile bir hedefe izin verebilir."
        | "The address is in a private network or not allowed; nothing was sent.", "Register a public address. The operator can allow a target with `allow_targets`.",
    Name:
        "Alan adı çözümlenemedi.", "Adı ya da DNS kaydını düzeltin. Bütün alıcılarda oluyorsa hizmetin makinesindeki DNS ayarlarına bakın."
        | "The host name could not be resolved.", "Correct the name or its DNS record. If it happens with all receivers, check DNS on the machine of the service.",
    Connect:
        "Bağlantı kurulamadı.", "Alıcının çalıştığını ve arada güvenlik duvarı olmadığını denetleyin."
        | "No connection could be made.", "Check that the receiver is running and that no firewall is in between.",
    Tls:
        "TLS bağlantısı kurulamadı.", "Sertifikaya bakın: süresi dolmuş, başka bir ad için ya da bilinmeyen bir kurumdan olabilir. Kendi kurumunuzu `trusted_certificates` ile tanıtın."
        | "No TLS connection could be made.", "Check the certificate: it may be expired, for another name, or of an unknown authority. For an authority of your own, set `trusted_certificates`.",
    Broken:
        "Bağlantı, yanıt gelmeden koptu.", "Alıcının ve önündeki vekil sunucunun günlüğüne bakın; biri isteğin ortasında kapanmış olabilir."
        | "The connection broke before an answer came.", "Look at the logs of the receiver and of the proxy in front of it; one of them may have stopped during the request.",
    TimedOut:
        "Zamanında yanıt gelmedi (`webhook.attempt_seconds`).", "Olayı saklayıp hemen yanıt verin, sonra işleyin."
        | "No answer came in time (`webhook.attempt_seconds`).", "Store the event and answer at once; process it afterwards.",
}
