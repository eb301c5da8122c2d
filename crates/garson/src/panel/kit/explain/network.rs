//! Network failures in Turkish.

use garson_core::explanation::{ConnectionError, NetworkFailure};
use std::time::Duration;

pub fn turkish(failure: &NetworkFailure) -> String {
    let text = match failure {
        NetworkFailure::NameNotResolved { name } => return format!("{name} adı çözümlenemedi"),
        NetworkFailure::NameNotResolvedInTime { name, within } => {
            return format!("{name} adı {} saniye içinde çözümlenemedi", seconds(*within));
        }
        NetworkFailure::CannotConnect { error } => return format!("bağlanılamadı: {}", connection(error)),
        NetworkFailure::NoConnectionInTime { within } => {
            return format!("{} saniye içinde bağlantı kurulamadı", seconds(*within));
        }
        NetworkFailure::NoTlsInTime { within } => {
            return format!("{} saniye içinde TLS bağlantısı kurulamadı", seconds(*within));
        }
        NetworkFailure::NoAnswerInTime { within } => {
            return format!("{} saniye içinde yanıt gelmedi", seconds(*within));
        }
        NetworkFailure::GivenUpForOthers { after } => {
            return format!(
                "{:.1} saniye içinde yanıt gelmedi; başka olaylar beklediği için vazgeçildi",
                after.as_secs_f64()
            );
        }
        NetworkFailure::NoAddress => "alan adının adresi yok",
        NetworkFailure::HostNotWritable => "sunucu adı isteğe yazılamıyor",
        NetworkFailure::ClosedBeforeRequest => "bağlantı, istek gönderilmeden kapandı",
        NetworkFailure::ClosedBeforeAnswer => "bağlantı yanıt gelmeden kapandı",
        NetworkFailure::ResetBeforeAnswer => "bağlantı yanıt gelmeden kesildi",
        NetworkFailure::ClosedInHeaders => "bağlantı, yanıtın başlıkları tamamlanmadan kapandı",
        NetworkFailure::ResetInHeaders => "bağlantı, yanıtın başlıkları tamamlanmadan kesildi",
        NetworkFailure::HeadersTooLarge => "yanıtın başlıkları çok fazla ya da çok uzun",
        NetworkFailure::TooMuchBeforeAnswer => "yanıt başlamadan önce çok fazla veri geldi",
        NetworkFailure::NotHttp => "yanıt HTTP değil",
    };
    text.to_owned()
}

fn seconds(time: Duration) -> f32 {
    time.as_secs_f32()
}

pub fn connection(error: &ConnectionError) -> &str {
    match error {
        ConnectionError::Refused => "bağlantı reddedildi",
        ConnectionError::Reset | ConnectionError::Aborted => "bağlantı kesildi",
        ConnectionError::TimedOut => "zaman aşımı",
        ConnectionError::HostUnreachable => "sunucuya ulaşılamıyor",
        ConnectionError::NetworkUnreachable => "ağa ulaşılamıyor",
        ConnectionError::NetworkDown => "ağ çalışmıyor",
        ConnectionError::Other(text) => text,
    }
}
