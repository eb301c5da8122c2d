//! TLS failures in Turkish.

use super::network::connection;
use garson_core::explanation::TlsFailure;

pub fn turkish(failure: &TlsFailure) -> String {
    let text = match failure {
        TlsFailure::HandshakeFailed { error } => return format!("TLS kurulamadı: {}", connection(error)),
        TlsFailure::Alert { name: Some(name) } => {
            return format!("karşı taraf TLS bağlantısını bitirdi: {name}");
        }
        TlsFailure::HostNotAllowedInCertificate { host } => {
            return format!("{host} bir sertifikada yer alamaz");
        }
        TlsFailure::NoCertificateForHost { host } => {
            return format!("karşı tarafta şunun için sertifika yok: {host}");
        }
        TlsFailure::CertificateExpiredOn { day } => return format!("sertifikanın süresi doldu: {day}"),
        TlsFailure::CertificateNotValidBefore { day } => {
            return format!("sertifika şu günden önce geçerli değil: {day}");
        }
        TlsFailure::CertificateForOtherHost { host } => {
            return format!("sertifika başka bir ad için; beklenen: {host}");
        }
        TlsFailure::ClosedInHandshake => "bağlantı TLS kurulurken kapandı",
        TlsFailure::ResetInHandshake => "bağlantı TLS kurulurken kesildi",
        TlsFailure::NoTls => "karşı taraf TLS desteklemiyor",
        TlsFailure::VersionTooOld => "karşı tarafın TLS sürümü güvenli değil: 1.2 ya da 1.3 gerekli",
        TlsFailure::NoCommonCipher => "karşı taraf güvenli bir şifreleme sunmuyor",
        TlsFailure::ProtocolViolation => "karşı taraf TLS kurallarına uymuyor",
        TlsFailure::ClientCertificateRequired => "karşı taraf istemci sertifikası istiyor, o da yok",
        TlsFailure::Alert { name: None } => "karşı taraf TLS bağlantısını bitirdi",
        TlsFailure::NoCertificate => "karşı taraf sertifika göstermiyor",
        TlsFailure::CertificateExpired => "sertifikanın süresi dolmuş",
        TlsFailure::CertificateNotYetValid => "sertifika henüz geçerli değil",
        TlsFailure::IssuerNotTrusted => "sertifikayı veren kuruma güvenilmiyor",
        TlsFailure::CertificateRevoked => "sertifika iptal edilmiş",
        TlsFailure::RevocationUnknown => "sertifikanın iptal edilip edilmediği bilinmiyor",
        TlsFailure::NotServerCertificate => "sertifika sunucu sertifikası değil",
        TlsFailure::CertificateUnreadable => "sertifika okunamıyor",
        TlsFailure::BadSignature => "sertifika, adını taşıdığı kurumca imzalanmamış",
        TlsFailure::SignatureNotSupported => "sertifikanın imza yöntemi desteklenmiyor",
        TlsFailure::AuthorityCertificate => "sertifika bir sunucunun değil, bir kurumun",
        TlsFailure::InvalidCertificate => "sertifika geçerli değil",
    };
    text.to_owned()
}
