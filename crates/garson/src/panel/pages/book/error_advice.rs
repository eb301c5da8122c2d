//! What each error code means and what to do about it, in both languages. A code without its texts does not compile.

use crate::http::error::Code;
use crate::panel::words::Lang;

/// The texts of one code, or of one reason.
#[derive(Clone, Copy, Debug)]
pub struct Advice {
    pub meaning: &'static str,
    pub what_to_do: &'static str,
}

/// `Code: "meaning", "what to do"` in Turkish and, after the bar, in English.
macro_rules! advice {
    ($($code:ident: $tr_meaning:literal, $tr_do:literal | $en_meaning:literal, $en_do:literal,)*) => {
        pub fn advice(code: Code, lang: Lang) -> Advice {
            let (meaning, what_to_do) = match (code, lang) {
                $((Code::$code, Lang::Tr) => ($tr_meaning, $tr_do),
                (Code::$code, Lang::En) => ($en_meaning, $en_do),)*
            };
            Advice { meaning, what_to_do }
        }
    };
}

advice! {
    BrokenRequest:
        "İstek HTTP olarak okunamadı ya da başlıkları çok büyük.", "İsteği bir HTTP kitaplığıyla kurun; başlıklar toplam 64 KiB'ı, sayıları 100'ü aşmasın."
        | "The request cannot be read as HTTP, or its head is too large.", "Build the request with an HTTP library; at most 64 KiB and 100 headers.",
    BrokenJson:
        "Gövde geçerli JSON değil.", "`message` bozuk yeri söyler. Gövdeyi elle birleştirmek yerine bir JSON kitaplığıyla yazın."
        | "The body is not valid JSON.", "`message` names the place. Write the body with a JSON library instead of joining text.",
    RepeatedKey:
        "Bir JSON nesnesinde aynı anahtar iki kez var.", "Anahtarı bir kez gönderin."
        | "A JSON object has the same key twice.", "Send the key once.",
    Unauthorized:
        "API anahtarı yok, yanlış, iptal edilmiş ya da süresi dolmuş.", "`Authorization: Bearer ANAHTAR` başlığını gönderin; anahtarın geçerliliğini API anahtarları sayfasında denetleyin."
        | "The API key is missing, wrong, revoked or expired.", "Send the header `Authorization: Bearer KEY`; check the key on the page API keys.",
    PrimaryKeyRequired:
        "Bu işlemi yalnızca birincil anahtar yapabilir.", "Birincil anahtarı kullanın ya da işlemi panelde yapın."
        | "Only the primary key may do this.", "Use the primary key, or do it in the panel.",
    AccountDisabled:
        "Hesap işletmeci tarafından kapatılmış. Platform siparişleri yine kaydedilir.", "İşletmeciye başvurun."
        | "The operator has disabled the account. Orders of platforms are still recorded.", "Contact the operator.",
    QuotaReached:
        "Hesap, restoran, anahtar ya da uç nokta sınırına ulaştı.", "Kullanılmayanları silin ya da işletmeciden sınırı yükseltmesini isteyin."
        | "The account has reached its limit of restaurants, keys or endpoints.", "Delete what is not used, or ask the operator for a higher limit.",
    NotAllowed:
        "Kullanıcının rolü ya da anahtarın yetkisi buna yetmiyor.", "Yetkisi olan bir kullanıcı ya da anahtarla yapın."
        | "The role of the user or the rights of the key do not include this.", "Use a user or a key that may do it.",
    InsufficientScope:
        "Anahtarın kapsamı bu işlemi içermiyor.", "`message` yeterli kapsamları sayar; bu kapsamla yeni bir anahtar verin."
        | "The scopes of the key do not include this operation.", "`message` lists the scopes that would do; issue a key with one of them.",
    AddressNotAllowed:
        "Anahtar bu ağ adresinden kullanılamaz.", "Anahtarın ağlarını denetleyin. Ters vekil sunucunun arkasında `server.trusted_proxies` gerekir."
        | "The key may not be used from this network address.", "Check the networks of the key. Behind a reverse proxy, `server.trusted_proxies` is needed.",
    NotFound:
        "Bu adreste bir şey yok.", "Yolu ve yöntemi API belgesiyle karşılaştırın."
        | "There is nothing at this path.", "Compare path and method with the API reference.",
    OrderNotFound:
        "Sipariş yok, silinmiş ya da başka bir hesabın.", "Sipariş numarasını ve anahtarın hesabını denetleyin."
        | "The order does not exist, was deleted, or belongs to another account.", "Check the id, and the account of the key.",
    BusinessNotFound:
        "İşletme yok ya da başka bir hesabın.", "İşletmeleri `GET /businesses` ile listeleyin."
        | "The business does not exist or belongs to another account.", "List the businesses with `GET /businesses`.",
    RestaurantNotFound:
        "Restoran yok, silinmiş ya da anahtar bu restoran için değil.", "Restoranları `GET /restaurants` ile listeleyin."
        | "The restaurant does not exist, was deleted, or the key is not for it.", "List the restaurants with `GET /restaurants`.",
    IntegrationNotFound:
        "Restoran bu platforma bağlı değil.", "Önce `PUT …/integrations/PLATFORM` ile bağlayın."
        | "The restaurant is not connected to this platform.", "Connect it first, with `PUT …/integrations/PLATFORM`.",
    KeyNotFound:
        "API anahtarı yok ya da silinmiş.", "Anahtarları `GET /keys` ile listeleyin."
        | "The API key does not exist or was removed.", "List the keys with `GET /keys`.",
    PrinterNotFound:
        "Yazıcı yok ya da artık kayıtlı değil.", "Yazdırma programını yeniden başlatın; kendini yeniden kaydeder."
        | "The printer does not exist or is no longer registered.", "Restart the print agent; it registers itself again.",
    ProductNotFound:
        "Ürün yok ya da başka bir restoranın.", "Restoranın ürünlerini yeniden okuyun."
        | "The product does not exist or belongs to another restaurant.", "Read the products of the restaurant again.",
    PriceChangeNotFound:
        "Bu fiyat değişikliği yok ya da önizlemesinin süresi doldu.", "Yeni bir önizleme alın."
        | "This price change does not exist, or its preview has expired.", "Request a new preview.",
    CatalogPushNotFound:
        "Bu menü gönderimi yok.", "Restoranın menü gönderimlerini listeleyin."
        | "This sending of a menu does not exist.", "List those of the restaurant.",
    ChannelNotFound:
        "Bildirim kanalı yok ya da silinmiş.", "Kanalları `GET /channels` ile listeleyin."
        | "The channel does not exist or was deleted.", "List the channels with `GET /channels`.",
    EndpointNotFound:
        "Webhook uç noktası yok ya da silinmiş.", "Uç noktaları `GET /webhook-endpoints` ile listeleyin."
        | "The webhook endpoint does not exist or was deleted.", "List the endpoints with `GET /webhook-endpoints`.",
    WebhookRecordNotFound:
        "Olay yok ya da saklama süresi (`webhook.keep_days`) dolmuş.", "Kimliği denetleyin; eski olaylar silinir, siparişin kendisini okuyun."
        | "The event does not exist, or is older than `webhook.keep_days`.", "Check the id; old events are deleted, so read the order itself.",
    RetryNotFound:
        "Bu toplu yeniden gönderim yok ya da çok eski.", "Yeniden gönderimleri listeleyin."
        | "This bulk resend does not exist or is too old.", "List the resends.",
    UserNotFound:
        "Kullanıcı yok ya da hesaptan çıkarılmış.", "Kullanıcıları `GET /users` ile listeleyin."
        | "The user does not exist or was removed.", "List the users with `GET /users`.",
    ErasureNotFound:
        "Bu silme işlemi yok.", "Silme işlemlerini listeleyin."
        | "This erasure does not exist.", "List the erasures.",
    UnknownProvider:
        "Bu adda bir platform yok.", "Adları `GET /providers` verir."
        | "There is no platform of this name.", "`GET /providers` lists the names.",
    UnknownStore:
        "Kendi kanalınızın gönderdiği `storeId` bağlı değil.", "Entegrasyonun `remoteId` alanıyla aynı değeri gönderin."
        | "The `storeId` that your own shop sends is not connected.", "Send the `remoteId` of the integration.",
    MethodNotAllowed:
        "Yol bu yöntemi kabul etmiyor.", "`Allow` başlığı kabul edilenleri sayar."
        | "The path does not take this method.", "The header `Allow` lists those that it takes.",
    RequestTimeout:
        "Gövde çok yavaş gönderildi.", "İsteği yineleyin; bağlantıyı denetleyin."
        | "The body was sent too slowly.", "Repeat the request; check the connection.",
    AmbiguousOrderId:
        "Platformun numarası birden çok siparişe uyuyor.", "`details` içindeki kayıt numaralarından birini kullanın."
        | "The platform's id matches several orders.", "Use one of the record ids in `details`.",
    DuplicateOrderId:
        "Aynı sipariş numarası başka bir içerikle gönderildi.", "Yeni sipariş için yeni numara, değişiklik için daha yüksek `revision` gönderin."
        | "The same order id was sent with other content.", "Send a new id for a new order, a higher `revision` for a change.",
    NoNextStatus:
        "Sipariş bitmiş; sonraki adımı yok.", "Siparişin durumunu okuyun; yapılacak bir şey yok."
        | "The order is finished and has no next step.", "Read the status of the order; nothing is left to do.",
    NotDue:
        "İleri tarihli siparişin zamanı gelmedi.", "`details` içindeki `scheduledFor` zamanını bekleyin."
        | "A scheduled order is not due yet.", "Wait until `scheduledFor` in `details`.",
    OrderCancelled:
        "Sipariş iptal edilmiş.", "Hazırlamayı bırakın; iptal kesindir."
        | "The order is cancelled.", "Stop preparing it; a cancellation is final.",
    NotPreparing:
        "Sipariş hazırlanmıyor; hazır bildirilemez.", "Önce onaylayın; yola çıkmışsa bildirmeye gerek yok."
        | "The order is not in preparation and cannot be reported ready.", "Accept it first; if it has left, nothing is to be reported.",
    OrderMoved:
        "Siparişi aynı anda başka biri değiştirdi.", "Siparişi yeniden okuyun ve kararınızı yeni duruma göre verin."
        | "The order was changed by someone else meanwhile.", "Read the order again and decide by its new status.",
    RemoteIdTaken:
        "Bu şube numarası hesabın başka bir restoranında kullanılıyor.", "Numarayı düzeltin ya da öteki bağlantıyı kaldırın."
        | "Another restaurant of the account uses this branch id.", "Correct the id, or remove the other integration.",
    NotConnected:
        "Bağlantı kapalı ya da bilgileri eksik.", "Entegrasyonu tamamlayıp açın, sonra yineleyin."
        | "The integration is off or incomplete.", "Complete it, switch it on, and repeat.",
    NotSupported:
        "Platform bu işlemi desteklemiyor.", "Platformlar sayfasına bakın; işlemi platformun kendi panelinde yapın."
        | "The platform does not support this.", "See the page Platforms; do it in the platform's own portal.",
    NotCovered:
        "Restoranın paketi bu tarihi kapsamıyor.", "Paketi uzatın."
        | "The restaurant's package does not cover this time.", "Extend the package.",
    LastKey:
        "Hesabın son anahtarı iptal edilemez.", "Önce yeni bir anahtar verin."
        | "The last key of the account cannot be revoked.", "Issue another key first.",
    KeyReplaced:
        "Bu anahtarın yerine zaten yenisi verilmiş.", "Yeni anahtarı kullanın."
        | "This key has been replaced already.", "Use the new key.",
    PrimaryKeyLimited:
        "Sınırlı ya da süreli bir anahtar birincil olamaz.", "Sınırsız bir anahtar verip onu birincil yapın."
        | "A key with limits or an end cannot be primary.", "Issue a key without limits and make it primary.",
    ChannelInUse:
        "Kanal bir uyarı adımında ya da bildirimlerde kullanılıyor.", "Önce onu oradan çıkarın."
        | "The channel is used by escalation steps or notices.", "Remove it there first.",
    TooManyChannels:
        "Hesabın en fazla 20 kanalı olabilir.", "Kullanılmayan bir kanalı silin."
        | "An account has at most 20 channels.", "Delete one that is not used.",
    NoWebhook:
        "Kayıtlı webhook adresi yok.", "Önce `PUT /webhook` ile adres kaydedin."
        | "No webhook address is registered.", "Register one with `PUT /webhook` first.",
    EmailTaken:
        "Bu e-posta adresi başka bir kullanıcının.", "Başka bir adres kullanın."
        | "The e-mail address belongs to another user.", "Use another address.",
    LastOwner:
        "Hesabın son sahibi çıkarılamaz ya da rolü düşürülemez.", "Önce başka bir kullanıcıyı sahip yapın."
        | "The last owner of an account cannot be removed or given another role.", "Make another user an owner first.",
    AlreadyAccepted:
        "Davet zaten kabul edilmiş.", "Kullanıcı oturum açabilir; gerekirse parola sıfırlasın."
        | "The invitation has been accepted already.", "The user can sign in, or reset the password.",
    TooManyUsers:
        "Hesap kullanıcı sınırına ulaştı.", "Kullanılmayan kullanıcıları çıkarın."
        | "The account has reached its limit of users.", "Remove users that are not needed.",
    ProviderRefused:
        "Platform işlemi reddetti; sipariş değişmedi.", "`message` platformun açıklamasıdır. Siparişi platformun panelinde de denetleyin."
        | "The platform refused; the order has not changed.", "`message` has its explanation. Look at the order in the platform's portal too.",
    IdempotencyKeyInUse:
        "Aynı `Idempotency-Key` ile bir istek hâlâ sürüyor.", "Bir saniye sonra aynı isteği yineleyin."
        | "A request with the same `Idempotency-Key` is still running.", "Repeat the same request after a second.",
    IdempotencyKeyReused:
        "Aynı `Idempotency-Key` başka bir istekte kullanılmış.", "Her yeni istek için yeni bir anahtar üretin."
        | "The same `Idempotency-Key` was used for another request.", "Make a new key for each new request.",
    BodyTooLarge:
        "Gövde 1 MiB'tan büyük.", "Listeyi birkaç isteğe bölün."
        | "The body is larger than 1 MiB.", "Split the list into several requests.",
    UnsupportedMediaType:
        "Gövde JSON olarak bildirilmemiş ya da sıkıştırılmış.", "`Content-Type: application/json` gönderin, gövdeyi sıkıştırmayın."
        | "The body is not declared as JSON, or is compressed.", "Send `Content-Type: application/json` and no compression.",
    InvalidField:
        "Gövdenin bir alanı geçersiz.", "`details` alanı ve kuralı söyler; düzeltip yineleyin."
        | "A field of the body is invalid.", "`details` names the field and the rule; correct it and repeat.",
    InvalidParameter:
        "Adresteki bir parametre geçersiz.", "`details` parametreyi ve kuralı söyler."
        | "A parameter of the address is invalid.", "`details` names the parameter and the rule.",
    InvalidCursor:
        "İmleç ya da `Last-Event-ID` bilinmiyor, ya da olaylarının saklama süresi dolmuş.", "Siparişleri okuyun, sonra imleçsiz yeniden başlayın."
        | "The cursor or `Last-Event-ID` is unknown, or its events have expired.", "Read the orders, then start again without a cursor.",
    ReasonNotAccepted:
        "Platform bu iptal nedenini kabul etmiyor.", "`details` kabul edilen nedenleri sayar; `GET /orders/reasons/SIPARIS` de verir."
        | "The platform does not accept this reason.", "`details` lists those that it accepts, as does `GET /orders/reasons/ORDER`.",
    TargetNotAllowed:
        "Adres özel bir ağda ya da yasak; istek gönderilmez.", "Herkese açık bir adres verin. İşletmeci `allow_targets` ile bir hedefe izin verebilir."
        | "The address is in a private network or not allowed; nothing is sent there.", "Use a public address. The operator can allow a target with `allow_targets`.",
    RateLimited:
        "Saniyedeki istek sınırı aşıldı.", "`Retry-After` kadar bekleyin; tek tek sormak yerine listeleri kullanın."
        | "The limit of requests per second is exceeded.", "Wait for `Retry-After`; use lists instead of single reads.",
    TooManyStreams:
        "Hesabın açık akış ve uzun sorgu sınırı doldu.", "Kullanılmayan bağlantıları kapatın."
        | "Too many streams and long polls are open.", "Close connections that are not used.",
    TooManyRetries:
        "On toplu yeniden gönderim zaten sürüyor.", "Birinin bitmesini bekleyin."
        | "Ten bulk resends are running already.", "Wait until one is done.",
    TooManyErasures:
        "Çok sayıda silme işlemi sürüyor.", "Birinin bitmesini bekleyin."
        | "Too many erasures are running.", "Wait until one is done.",
    TooManyPrints:
        "Yazıcıda bekleyen çok iş var.", "Yazıcıyı denetleyin, sonra yineleyin."
        | "Too many tickets wait for the printer.", "Check the printer, then repeat.",
    TooManySends:
        "Aynı anda dört elle gönderimden fazlası yapılamaz.", "Öncekilerin bitmesini bekleyin."
        | "No more than four manual sends may run at a time.", "Wait until the others are done.",
    OrderQuotaReached:
        "Hesabın kendi kanalı için günlük sipariş sınırı doldu.", "Ertesi günü bekleyin ya da işletmeciden sınırı yükseltmesini isteyin."
        | "The account's daily limit of orders of its own shop is reached.", "Wait for the next day, or ask the operator for a higher limit.",
    Internal:
        "Hizmette beklenmeyen bir hata oldu.", "Yineleyin. Sürerse `X-Request-Id` değerini işletmeciye bildirin."
        | "Something went wrong in the service.", "Repeat. If it persists, give the operator the `X-Request-Id`.",
    TargetUnreachable:
        "Verdiğiniz adres yanıt vermedi.", "Adresi, DNS kaydını, güvenlik duvarını ve sertifikayı denetleyin."
        | "The address that you gave did not answer.", "Check the address, its DNS record, the firewall and the certificate.",
    ProviderUnreachable:
        "Platforma ulaşılamadı; bir şey değişmedi.", "Kısa süre sonra yineleyin; platformun durum sayfasına bakın."
        | "The platform cannot be reached; nothing has changed.", "Repeat soon; see the platform's status page.",
    Overloaded:
        "Hizmet şu anda yetişemediği kadar istek alıyor; bu istek işlenmedi.", "`Retry-After` kadar bekleyip yineleyin. Sürerse işletmeci daha güçlü bir makine ya da yeni bir düğüm eklemeli."
        | "The service gets more requests than it can handle; this one was not handled.", "Wait for `Retry-After` and repeat. If it persists, the operator adds processors or nodes.",
    StorageUnavailable:
        "Veritabanı şu anda kullanılamıyor.", "`Retry-After` kadar bekleyip yineleyin. İşletmeci disk alanına ve günlüğe bakmalı."
        | "The database is not available right now.", "Wait for `Retry-After` and repeat. The operator checks free space and the log.",
    ProviderTimeout:
        "Platform zamanında yanıt vermedi; işlemin olup olmadığı belli değil.", "Siparişi okuyun: platformdan öğrenilince güncellenir. Hemen yinelemek güvenlidir."
        | "The platform did not answer in time; whether it acted is not known.", "Read the order: it is updated once the platform has told. Repeating is safe.",
}
