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
        PlatformFailure::OrderCancelled => "sipariş iptal edildi",
        PlatformFailure::NotDone => "platform bunu yapmadı",
        PlatformFailure::NotDoneYet => "platform bunu henüz yapmadı",
        PlatformFailure::FailedAndNotDone => "platformda bir hata oldu, bunu yapmadı",
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
    }
}

fn missing(data: MissingData) -> &'static str {
    match data {
        MissingData::Reason => "siparişin iptal nedeni kayıtlı değil",
        MissingData::ReasonNumber => "siparişin iptal nedeni bir numara değil",
        MissingData::PackageItems => "siparişin paket satır numaraları kayıtlı değil",
    }
}
