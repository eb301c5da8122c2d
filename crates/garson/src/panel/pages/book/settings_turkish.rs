//! The descriptions of the settings in Turkish; the file of the defaults has them in English.

/// The description of a setting, or of a table by its name alone.
pub fn turkish(key: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(name, _)| *name == key).map(|(_, text)| *text)
}

pub(super) const TEXTS: &[(&str, &str)] = &[
    ("listen", "Dinlenecek adres ve kapı."),
    ("data", "Veri klasörü: SQLite veritabanı ve anahtar dosyası."),
    (
        "database_url",
        "Boş: veri klasöründe SQLite. \"postgres://kullanıcı:parola@sunucu/veritabanı\": istenen sayıda düğüm için PostgreSQL.",
    ),
    (
        "master_key",
        "Saklanan gizli bilgileri şifreler: 64 onaltılık hane. Boş: veri klasöründe anahtar dosyası oluşturulur. PostgreSQL ile zorunludur ve bütün düğümlerde aynı olmalıdır.",
    ),
    (
        "master_key_file",
        "Anahtarın bulunduğu dosya, örneğin bağlanmış bir gizli dosya. Sahibi ve grubundaki okuyucular dışında kimse erişememelidir.",
    ),
    (
        "rate_limit",
        "Her API anahtarı için saniyedeki istek ve anlık üst sınır: \"1000/2000\". \"off\": sınır yok.",
    ),
    (
        "account_rate_limit",
        "Aynısı, bir hesabın bütün anahtarları için birlikte. Bu ya da rate_limit \"off\" ise sınır yok.",
    ),
    (
        "allow_private_targets",
        "Özel ağ adreslerine ve bu makineye webhook ve geri çağrı gönderilmesine izin verir. Yalnızca geliştirme içindir.",
    ),
    (
        "allow_targets",
        "İzin verilen tek tek özel hedefler, örneğin restorandaki kasa: [\"10.0.4.7:8443\"].",
    ),
    (
        "only_listed_targets",
        "allow_targets dışında hiçbir hedefe, herkese açık olanlara da, izin verilmez.",
    ),
    (
        "trust_branch_claims",
        "Sahipsiz bir şubeyi (platformdaki remoteId) ilk giren entegrasyon kanıtsız sahiplenir. Yalnızca bütün hesaplar tek işletmecininse kullanın. Yoksa şube, kendi bilgileri platformda çalışmış olan hesabın ya da `garson branch assign` ile atananındır.",
    ),
    (
        "trusted_certificates",
        "Restoranın kendi ağındaki https adresleri için ek sertifika kurumlarının PEM dosyası. Boş: yok.",
    ),
    (
        "simulator",
        "Çalışan bir simülatörün (`garson sim`) adresi; platformların base_url ayarı onu gösteriyorsa panel deneme siparişi sunar. Boş: yok.",
    ),
    (
        "public_url",
        "İnsanların, programların ve platformların bu hizmete ulaştığı adres. Gönderilen bağlantılarda, API belgesinde ve platformlara verilen adreslerde kullanılır. Boş: bağlantılarda isteğin adresi bulunur, platformlara adres verilmez.",
    ),
    (
        "webhook.retry_seconds",
        "Bir gönderimin her yeniden denemesinden önceki bekleme süreleri.",
    ),
    ("webhook.attempt_seconds", "Tek bir denemenin süresi, saniye."),
    (
        "webhook.max_per_endpoint",
        "Aynı andaki denemeler: alıcı başına ve toplam. Toplamın yarısı ilk denemelere, dörtte biri yinelemelere, dörtte biri sürekli hata veren alıcılara ayrılır. Sınır aşılınca asılı kalan deneme, bir ilk deneme için kesilir ve zaman aşımı sayılır.",
    ),
    (
        "webhook.keep_days",
        "Olayların ve denemelerinin saklandığı gün; teslim edilmiş olsun olmasın okunabilir, listelenebilir ve yeniden gönderilebilir.",
    ),
    (
        "webhook.disable_after_hours",
        "Bütün denemeleri (en az on) bu kadar saat başarısız olan ek uç nokta kapatılır ve hesaba bildirilir. PUT /webhook ile kaydedilen adres hiç kapatılmaz.",
    ),
    (
        "storage.readers",
        "Okuma iş parçacıkları ve yazma için PostgreSQL bağlantıları. SQLite'ın tek yazıcısı vardır.",
    ),
    (
        "storage.commit_delay_ms",
        "Yavaş bir diski taklit etmek için her yazmaya eklenen süre.",
    ),
    (
        "storage.accept_damage",
        "Düzgün kapanmayan sunucu SQLite veritabanını denetler, bozuksa başlamaz. Okunabilenle sürdürmek için tek bir başlatmada açın.",
    ),
    (
        "storage.answer_seconds",
        "Veritabanını bekleyen isteğin 503 alacağı süre. PostgreSQL bağlantı ve sorgu süreleri bundan türetilir.",
    ),
    (
        "storage.start_seconds",
        "`garson serve` komutunun başlarken ulaşılamayan PostgreSQL'i beklediği süre; 0: beklemez.",
    ),
    (
        "server.max_connections",
        "Aynı andaki bağlantılar. Dolunca önce boşta duran kimliksiz bağlantılar kapatılır.",
    ),
    (
        "server.max_connections_per_address",
        "İstemci adresi başına (IPv6'da /64 ağı başına) aynı andaki bağlantılar. Güvenilen vekillerde sınır yoktur.",
    ),
    (
        "server.max_wait_ms",
        "İşler işlemciyi ya da veritabanının yazıcısını bu kadar milisaniyeden uzun beklerse, bekleme kısalana dek en çok istek gönderen adreslerin istekleri 503 ile geri çevrilir. 0: hiçbir zaman.",
    ),
    (
        "server.trusted_proxies",
        "Hizmetin önündeki, istemci adresi başlığına güvenilen vekillerin adres ya da ağları. Yoksa bir vekilin bütün istemcileri tek adres sayılır.",
    ),
    (
        "server.proxy_header",
        "İstemci adresini taşıyan başlık: \"X-Forwarded-For\" ya da \"Forwarded\". Her vekil buna eklemeli ya da değiştirmelidir.",
    ),
    (
        "server.max_streams",
        "Aynı andaki olay akışları ve uzun sorgular; bir hesap 100 tane kullanabilir.",
    ),
    (
        "server.drain_seconds",
        "Kapanırken süren isteklerin bitmesi için saniye.",
    ),
    (
        "server.operations_listen",
        "/metrics, /healthz, /readyz, belgeler ve API belgesi için TLS'siz ikinci adres. Ayarlanırsa /metrics `listen` adresinde bulunmaz. Boş: hepsi `listen` adresindedir.",
    ),
    (
        "tls.certificate",
        "Sertifikanın (ara sertifikalarla) ve özel anahtarının PEM dosyaları: `listen` o zaman yalnızca HTTPS konuşur. Değişince ve SIGHUP gelince yeniden okunur. Boş: TLS yok, vekil kullanın.",
    ),
    (
        "quotas.restaurants",
        "`garson account quota` başka bir şey belirlemedikçe her hesabın sınırı; 0: sınır yok. Platform siparişleri her zaman alınır: orders_per_day aşılınca yalnızca kendi kanalın siparişleri ve deneme siparişleri reddedilir.",
    ),
    (
        "smtp.host",
        "Hesaplara gönderilen mesajlar için posta sunucusu. Boş: e-posta yok.",
    ),
    (
        "smtp.tls",
        "\"starttls\": oturumdan önce şifrelenir, genellikle 587. \"tls\": baştan şifrelidir, genellikle 465. \"none\": şifresiz, aynı makinedeki sunucu için.",
    ),
    ("smtp.user", "Kullanıcı adı ve parola; boş: oturum açılmaz."),
    ("smtp.from", "Gönderen, örneğin \"Garson <garson@example.com>\"."),
    (
        "openid.issuer",
        "Panele parolanın yanında OpenID Connect ile oturum açma: sağlayıcının adresi, tam kendi yazdığı gibi. Boş: yok. Sağlayıcıda public_url + \"/sign-in/openid/callback\" adresini kaydedin ve public_url ayarını verin.",
    ),
    (
        "openid.client_id",
        "Sağlayıcının bu hizmete verdiği kimlik ve gizli değer. Gizli değer boşsa yalnızca PKCE kullanılır.",
    ),
    ("openid.label", "Oturum açma sayfasındaki adı."),
    (
        "openid.trust_email",
        "Kullanıcılar ilk kez e-posta adresleriyle tanınır; sağlayıcı adresin doğrulandığını söylemelidir. true: söylemese de; yalnızca adresleri yöneticinin belirlediği sağlayıcılar için.",
    ),
    (
        "messages.notices_per_day",
        "Bir hesabın bir günde alacağı bildirim sayısı. Sonra bunu söyleyen tek bir mesaj gider, o gün başka gitmez.",
    ),
    (
        "stores.read_seconds",
        "Değişiklik sonrası okumalar dışında, mağaza durumunun iki okunması arasındaki saniye; 0: okunmaz.",
    ),
    (
        "stores.history_days",
        "Restoran geçmişinin saklandığı gün: hangi mağazayı kim açıp kapattı, sonucu ne oldu.",
    ),
    (
        "menus.read_hours",
        "Restoran menüsünün bir platformdan iki okunması arasındaki saat; 0: yalnızca istenince okunur.",
    ),
    (
        "menus.keep_versions",
        "Her menü için saklanan sürüm ve gün sayısı. Sürüm ancak menü değişince saklanır.",
    ),
    (
        "audit.keep_days",
        "Denetim kaydının saklandığı gün. Kalan kısım yine doğrulanabilir.",
    ),
    (
        "inbox.keep_days",
        "Platform mesajlarının geldikleri gibi saklandığı gün.",
    ),
    (
        "privacy.anonymise_days",
        "Müşterilerin kişisel verilerinin siparişlerden silineceği gün; toplamlar ve raporlar kalır. 0: kendiliğinden silinmez. Hesap daha az gün seçebilir.",
    ),
    (
        "backup.folder",
        "Çalışan hizmetin kendiliğinden alacağı yedekler için klasör, örneğin \"/var/backups/garson\". Boş: yedek almaz. Birden çok düğüm varsa yalnızca birinde belirtin. PostgreSQL için o düğümde istemci programları (pg_dump, pg_restore) gerekir.",
    ),
    (
        "backup.every_hours",
        "İki yedek arasındaki saat ve saklanan yedek sayısı.",
    ),
    ("log.level", "error, warn, info, debug ya da trace."),
    ("log.format", "İnsanlar için \"text\", programlar için \"json\"."),
    (
        "traces.endpoint",
        "OpenTelemetry izlerini (OTLP) HTTP ile alan toplayıcının adresi, örneğin \"http://127.0.0.1:4318\". Boş: siparişler izlenmez. Verilirse webhook'larda traceparent başlığı bulunur.",
    ),
    (
        "traces.authorization",
        "Toplayıcı isterse Authorization başlığının değeri.",
    ),
    ("traces.percent", "İzlenen siparişlerin yüzdesi."),
    (
        "platforms.getir",
        "Getir Yemek: temel adres, gönderimi kaybolan siparişleri bulmak için sorgulama aralığı (0: sorgulanmaz) ve bir siparişin iki adımı arasındaki en az süre. Bilgileri bütün entegrasyonlar paylaşır; entegrasyonun kendi bilgileri önce gelir.",
    ),
    (
        "platforms.getir.open_status",
        "Getir bunları yayımlamaz; entegrasyonunuzun gösterdiğini yazın. open_status ve closed_status restoranın `status` sayılarıdır (virgülle birden çok), unanswered_source yanıtsız sipariş yüzünden kapatılan restoranın `closedSource` değeridir, day_zero çalışma saatlerinde 0. günün haftanın hangi günü olduğudur: \"sunday\" ya da \"monday\".",
    ),
    (
        "platforms.getir.option_calls",
        "Seçeneklerin nasıl açılıp kapatılacağı: \"products\" (ürünlerinin altında) ya da \"\" (hiç; hangi çağrıların çalıştığı bilinmiyor).",
    ),
    (
        "platforms.migros",
        "Migros Yemek: bekleyen ve açık siparişler sorgulanır. `key_derivation`: \"raw\" (gizli değer anahtarın kendisidir) ya da \"sha256\".",
    ),
    (
        "platforms.migros.next_shift_option",
        "\"Sonraki vardiyaya kadar\" kapatmanın adı: entegratörler NEXT_SHIFT_START ve NEXT_WORK_HOUR bildiriyor.",
    ),
    (
        "platforms.trendyol",
        "Trendyol Go: değişen paketler sorgulanır. `inbound_headers`, webhook için kaydedilen başlıkların JSON nesnesidir (metin olarak).",
    ),
    (
        "platforms.yemeksepeti",
        "Yemeksepeti (Delivery Hero'nun POS ara katmanı). Türkiye sunucusu herkese açık olarak doğrulanmadı: sözleşmenizdekini kullanın. Yeni siparişler sorgulanamaz; platform gönderimini yineler. Kaybolan mesajlara karşı her poll_seconds saniyede iptal edilen siparişler istenir (0: hiç).",
    ),
    (
        "platforms.yemeksepeti.callback_hosts",
        "Siparişler, çağrılarımızın adreslerini içerir. base_url altındaki ya da bu sunuculardaki adresler kullanılır; başkalarının yerine base_url altındaki kullanılır ve günlüğe uyarı yazılır.",
    ),
    (
        "platforms.yemeksepeti.platform_key",
        "Şube grubun birden çok platformundaysa durumu okunacak ve değiştirilecek olan (\"\": hepsi).",
    ),
    (
        "platforms.yemeksepeti.global_entity_id",
        "Fiyatlar modify-product ile değişir; ülkenin anahtarını ve raporlar için bir adres ister. \"\" kapatır.",
    ),
    (
        "platforms.yemeksepeti.catalog_push",
        "Bütün menünün platforma gönderilip gönderilmeyeceği: \"on\" ya da \"\". Türkiye'de henüz sunulmuyor.",
    ),
];
