//! The sentences of `net`, `flow` and the platforms in Turkish.

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
    (
        "the other side does not speak TLS",
        "karşı taraf TLS desteklemiyor",
    ),
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
    ("arrived", "geldi"),
    ("verified", "onaylandı"),
    ("verified automatically", "kendiliğinden onaylandı"),
    ("pre-approved, and due now", "önceden onaylanmıştı, vakti geldi"),
    ("advanced", "ilerletildi"),
    ("reported by the platform", "platform bildirdi"),
    ("the platform changed the order", "platform siparişi değiştirdi"),
    (
        "the platform has no such order",
        "platformda böyle bir sipariş yok",
    ),
    (
        "the platform knows the order again",
        "sipariş platformda yeniden görünüyor",
    ),
    ("cancelled", "iptal edildi"),
    ("the order was cancelled", "sipariş iptal edildi"),
    ("the order is to be cancelled", "sipariş iptal edilecek"),
    ("the integration was removed", "bağlantı kaldırıldı"),
    (
        "the platform is not one of this version",
        "bu sürümde böyle bir platform yok",
    ),
    (
        "the platform does not accept our session",
        "platform oturumumuzu kabul etmiyor",
    ),
    ("the platform has not done it", "platform bunu yapmadı"),
    ("the platform has not done it yet", "platform bunu henüz yapmadı"),
    (
        "the platform failed, and has not done it",
        "platformda bir hata oldu, bunu yapmadı",
    ),
    (
        "somebody else is still logging in",
        "başka bir oturum açma sürüyor",
    ),
    ("nobody put it in time", "zamanında gönderilemedi"),
    ("the request cannot be written", "istek yazılamadı"),
    ("answered without a token", "yanıtında oturum anahtarı yok"),
    ("answered without the order", "yanıtında sipariş yok"),
    (
        "the answer to the log-in holds no session",
        "oturum açma yanıtında oturum yok",
    ),
    (
        "The restaurant has no paymentMatchingUrl.",
        "restoranın ödeme eşleme adresi yok.",
    ),
    (
        "The paymentMatchingUrl did not answer a list of {\"id\", \"name\"}.",
        "adres {\"id\", \"name\"} listesi yanıtlamadı.",
    ),
    (
        "The paymentMatchingHeaders are damaged.",
        "ödeme eşleme başlıkları bozuk.",
    ),
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
    (["the log-in was refused: ", ""], ["oturum açma reddedildi: ", ""]),
    (["the log-in failed: ", ""], ["oturum açılamadı: ", ""]),
    (
        ["the platform did not take us on: ", ""],
        ["platform bağlantıyı kabul etmedi: ", ""],
    ),
    (
        [
            "the platform says that it was so already, but its order is at ",
            "",
        ],
        [
            "platform zaten öyle olduğunu söylüyor, oysa siparişin oradaki durumu ",
            "",
        ],
    ),
    (
        ["the target is not allowed: ", ""],
        ["bu adrese gönderilemez: ", ""],
    ),
    (["the answer holds no order: ", ""], ["yanıtta sipariş yok: ", ""]),
    (["the simulator: ", ""], ["simülatör: ", ""]),
    (["says: ", ""], ["yanıtı: ", ""]),
    (
        ["The paymentMatchingUrl answered ", "."],
        ["adres ", " yanıtı verdi."],
    ),
    (
        ["The paymentMatchingUrl is not allowed: ", "."],
        ["bu adrese gönderilemez: ", "."],
    ),
    (
        ["The paymentMatchingUrl cannot be reached: ", "."],
        ["adrese ulaşılamıyor: ", "."],
    ),
    (["", " has no address"], ["", " adının adresi yok"]),
];

/// A sentence around two names or numbers: what is before, between and behind them, and how it is said.
type Between = ([&'static str; 3], fn(&str, &str) -> String);

const BETWEEN: &[Between] = &[
    (
        ["the name ", " was not resolved within ", " s"],
        |name, seconds| format!("{name} adı {seconds} saniye içinde çözümlenemedi"),
    ),
    (
        ["the platform takes ", " such calls in ", " s"],
        |calls, seconds| format!("platform {seconds} saniyede {calls} çağrı kabul ediyor"),
    ),
    (["answered ", ", unreadably: ", ""], |status, why| {
        format!("{status} yanıtı verdi, okunamadı: {why}")
    }),
    (
        ["answered ", " with something that cannot be read: ", ""],
        |status, why| format!("{status} yanıtı verdi, okunamadı: {why}"),
    ),
    (["The header ", " cannot be sent: ", "."], |name, why| {
        format!("{name} başlığı gönderilemez: {why}.")
    }),
];

/// What addresses are to which nothing is sent.
const MEANINGS: &[(&str, &str)] = &[
    ("a loopback address", "bu makinenin kendi adresi"),
    ("a private address", "özel bir ağ adresi"),
    ("a link-local address", "yerel bir bağlantı adresi"),
    ("a carrier-shared address", "operatörlerin paylaştığı bir adres"),
    ("a multicast address", "çok noktaya yayın adresi"),
    ("the broadcast address", "yayın adresi"),
    ("an unspecified address", "belirsiz bir adres"),
    ("a reserved address", "ayrılmış bir adres"),
    ("a documentation address", "belgelerde örnek olan bir adres"),
    ("a cloud metadata address", "bulut hizmetinin iç adresi"),
    ("the name of a cloud metadata service", "bulut hizmetinin iç adı"),
    (
        "not among the targets that the operator allows",
        "işletenin izin verdiği adreslerden değil",
    ),
    ("a name for this computer", "bu makinenin adı"),
    ("a name in the local network", "yerel ağdaki bir ad"),
    ("a name in an internal network", "iç ağdaki bir ad"),
    ("a name in a home network", "ev ağındaki bir ad"),
    (
        "a name without a dot, so it is local to a network",
        "noktasız, yalnızca yerel ağda geçerli bir ad",
    ),
];

/// Why nothing is sent to a target.
fn refused_target(text: &str) -> Option<String> {
    let meaning = |kind: &str| {
        let known = MEANINGS.iter().find(|(english, _)| *english == kind);
        known.map(|(_, turkish)| turkish)
    };
    let is = text.split_once(" is ");
    let leads = text.split_once(" leads to ");
    let is = is.and_then(|(host, kind)| Some(format!("{host} {}", meaning(kind)?)));
    is.or_else(|| leads.and_then(|(host, kind)| Some(format!("{host} şuraya götürüyor: {}", meaning(kind)?))))
}

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

/// A sentence in Turkish, if it is one of ours.
pub fn turkish(text: &str) -> Option<String> {
    if let Some((_, said)) = WHOLE.iter().find(|(known, _)| *known == text) {
        return Some((*said).to_owned());
    }
    if let Some(said) = refused_target(text) {
        return Some(said);
    }
    let between = BETWEEN.iter().find_map(|([before, middle, behind], say)| {
        let inner = text.strip_prefix(before)?.strip_suffix(behind)?;
        let (first, second) = inner.split_once(middle)?;
        Some(say(first, second))
    });
    between.or_else(|| answered(text)).or_else(|| around(text))
}

/// What was answered, with what the other side says of it.
fn answered(text: &str) -> Option<String> {
    let rest = text.strip_prefix("answered ")?;
    let (status, own) = match rest.split_once(": ") {
        Some((status, own)) => (status, format!(": {own}")),
        None => (rest, String::new()),
    };
    let is_status = status.len() == 3 && status.bytes().all(|b| b.is_ascii_digit());
    is_status.then(|| format!("{status} yanıtı verdi{own}"))
}

fn around(text: &str) -> Option<String> {
    AROUND
        .iter()
        .find_map(|([before, behind], [tr_before, tr_behind])| {
            let inner = text.strip_prefix(before)?.strip_suffix(behind)?;
            let kind = KINDS.iter().find(|(known, _)| *known == inner);
            let inner = match kind {
                Some((_, said)) => (*said).to_owned(),
                None => turkish(inner).unwrap_or_else(|| inner.to_owned()),
            };
            Some(format!("{tr_before}{inner}{tr_behind}"))
        })
}
