//! Platform failures in Turkish.

use garson_core::explanation::{MissingData, PlatformFailure, PlatformTask};

pub fn turkish(failure: &PlatformFailure) -> String {
    let text = match failure {
        PlatformFailure::Unsupported { task } => unsupported(*task),
        PlatformFailure::MissingCredential { name } => {
            return format!("bağlantıda şu bilgi eksik: {name}");
        }
        PlatformFailure::MissingData { data } => missing(*data),
        PlatformFailure::RateLimited { calls, seconds } => {
            return format!("platform {seconds} saniyede {calls} çağrı kabul ediyor");
        }
        PlatformFailure::PauseBetweenMoves { seconds } => {
            return format!("platform iki adım arasında {seconds} saniye istiyor");
        }
        PlatformFailure::CallUnreadable { error } => {
            return format!("çağrı için gereken kayıt okunamıyor: {error}");
        }
        PlatformFailure::OrderMissing { error } => return format!("yanıtta sipariş yok: {error}"),
        PlatformFailure::OrderListMissing { error } => {
            return format!("yanıtta sipariş listesi yok: {error}");
        }
        PlatformFailure::FieldUnreadable { path, error } => {
            return format!("yanıttaki {path} okunamadı: {error}");
        }
        PlatformFailure::OrderUnreadable { path, error } => {
            return format!("platformdaki sipariş okunamadı: {path} {error}");
        }
        PlatformFailure::StoreNotChangeable { reason: Some(reason) } => {
            return format!("platform şu anda restoranın durumunu değiştirtmiyor: {reason}");
        }
        PlatformFailure::ItemMissing { id } => return format!("platformdaki menüde {id} numaralı ürün yok"),
        PlatformFailure::Says { text } => return format!("yanıtı: {text}"),
        PlatformFailure::Contradicted { status, name } => {
            return format!(
                "platform zaten öyle olduğunu söylüyor, oysa siparişin oradaki durumu {status} ({name})"
            );
        }
        PlatformFailure::PollPanicked { error } => {
            return format!("siparişler sorulurken hata oldu: {error}");
        }
        PlatformFailure::RequestNotWritable => "istek yazılamadı",
        PlatformFailure::DotSegment => "yalnızca noktalardan oluşan bir numara adreste kullanılamaz",
        PlatformFailure::NoFreeSlot => "şu anda çok fazla platforma soruluyor",
        PlatformFailure::LoginInProgress => "başka bir oturum açma sürüyor",
        PlatformFailure::NotSentInTime => "zamanında gönderilemedi",
        PlatformFailure::Withdrawn => "gönderilmeden geri çekildi",
        PlatformFailure::OrderToBeCancelled => "sipariş iptal edilecek",
        PlatformFailure::IntegrationRemoved => "bağlantı kaldırıldı",
        PlatformFailure::IntegrationOff => "bağlantı kapalı",
        PlatformFailure::BranchNotProven => "şubenin bu hesaba ait olduğu doğrulanmadı",
        PlatformFailure::UnknownPlatform => "bu sürümde böyle bir platform yok",
        PlatformFailure::CredentialsUnreadable => "kayıtlı giriş bilgileri okunamıyor; yeniden bağlayın.",
        PlatformFailure::SessionNotAccepted => "platform oturumumuzu kabul etmiyor",
        PlatformFailure::NoSessions => "platformda oturum açılmıyor",
        PlatformFailure::NoToken => "yanıtında oturum anahtarı yok",
        PlatformFailure::NoSessionInAnswer => "oturum açma yanıtında oturum yok",
        PlatformFailure::NoOrderInAnswer => "yanıtında sipariş yok",
        PlatformFailure::NoPackageInAnswer => "yanıtta paket yok",
        PlatformFailure::NotAnOrder => "platformun gösterdiği bir sipariş değil",
        PlatformFailure::EndlessList => "platformun listesi bitmiyor",
        PlatformFailure::MenuTooLong => "menü çok fazla soru gerektiriyor",
        PlatformFailure::NoResultYet => "platformun yanıtı henüz hazır değil",
        PlatformFailure::StoreNotChangeable { reason: None } => {
            "platform şu anda restoranın durumunu değiştirtmiyor"
        }
        PlatformFailure::NotOffered => "platform şu anda bu seçeneği sunmuyor",
        PlatformFailure::NotConnected => "restoran bu platforma bağlı değil",
        PlatformFailure::StoreMissing => "restoran platformun listesinde yok",
        PlatformFailure::OrderCancelled => "sipariş iptal edildi",
        PlatformFailure::NotDone => "platform bunu yapmadı",
        PlatformFailure::NotDoneYet => "platform bunu henüz yapmadı",
        PlatformFailure::FailedAndNotDone => "platformda bir hata oldu, bunu yapmadı",
        PlatformFailure::OutcomeUnknown => "platformun bunu alıp almadığı bilinmiyor",
        PlatformFailure::OrdersNotStored => "siparişler kaydedilemedi",
    };
    text.to_owned()
}

fn unsupported(task: PlatformTask) -> &'static str {
    match task {
        PlatformTask::ReadOrder => "platformdan sipariş okunamıyor",
        PlatformTask::ReadMenu => "platformdan menü okunamıyor",
        PlatformTask::ListOrders => "platforma siparişler sorulamıyor",
        PlatformTask::ListReasons => "platforma iptal nedenleri sorulamıyor",
        PlatformTask::MorePages => "platform başka sayfa göstermiyor",
        PlatformTask::Questions => "platforma soru sorulamıyor",
        PlatformTask::AnotherQuestion => "platforma yeniden sorulamıyor",
        PlatformTask::TestConnection => "platform bağlantısı denenemiyor",
        PlatformTask::Enlist => "platforma bildirilemiyor",
        PlatformTask::Ready => "platforma bu siparişin hazır olduğu bildirilemiyor",
        PlatformTask::Step => "platforma bu adım bildirilemiyor",
        PlatformTask::ReadStore => "restoranın açık olup olmadığı platformdan okunamıyor",
        PlatformTask::ChangeStore => "restoran bu platformda buradan açılıp kapatılamıyor",
        PlatformTask::BusyMode => "platformda yoğunluk modu yok",
        PlatformTask::ReadHours => "çalışma saatleri platformdan okunamıyor",
        PlatformTask::WriteHours => "çalışma saatleri bu platformda buradan değiştirilemiyor",
        PlatformTask::TheseHours => "platform bu çalışma saatlerini kabul edemiyor",
        PlatformTask::ChangeItems => "ürünler bu platformda buradan açılıp kapatılamıyor",
        PlatformTask::ChangeOptions => "seçenekler bu platformda buradan açılıp kapatılamıyor",
        PlatformTask::ManyItems => "platform bu kadar ürünü bir kerede kabul etmiyor",
        PlatformTask::ReadItem => "ürünün durumu platformdan okunamıyor",
        PlatformTask::ChangePrices => "fiyatlar bu platformda buradan değiştirilemiyor",
        PlatformTask::ChangeOptionPrices => "seçenek fiyatları bu platformda buradan değiştirilemiyor",
        PlatformTask::ChangeBranchPrices => "bu platformda tek bir şubenin fiyatı değiştirilemiyor",
        PlatformTask::ManyPrices => "platform bu kadar fiyatı bir kerede kabul etmiyor",
        PlatformTask::ReadPrices => "fiyat değişikliğinin sonucu platforma sorulamıyor",
        PlatformTask::PushCatalog => "menü bu platforma buradan gönderilemiyor",
    }
}

fn missing(data: MissingData) -> &'static str {
    match data {
        MissingData::Reason => "siparişin iptal nedeni kayıtlı değil",
        MissingData::ReasonNumber => "siparişin iptal nedeni bir numara değil",
        MissingData::PackageItems => "siparişin paket satır numaraları kayıtlı değil",
        MissingData::OptionPlace => "seçeneğin grubu ve ürünü bilinmiyor",
    }
}
