//! Refused targets in Turkish.

use garson_core::explanation::{AddressKind, TargetRefusal};

pub fn turkish(refusal: &TargetRefusal) -> String {
    let text = match refusal {
        TargetRefusal::Is { host, address } => return format!("{host} {}", kind(*address)),
        TargetRefusal::ResolvesTo { host, address } => {
            return format!("{host} şuraya götürüyor: {}", kind(*address));
        }
        TargetRefusal::NoAddress { host } => return format!("{host} adının adresi yok"),
        TargetRefusal::TooLong { max_bytes } => return format!("adres {max_bytes} bayttan uzun"),
        TargetRefusal::Unreadable { error } => return format!("adres okunamıyor: {error}"),
        TargetRefusal::HasWhitespace => "adreste boşluk ya da denetim karakteri var",
        TargetRefusal::HasBackslash => "adreste ters eğik çizgi var",
        TargetRefusal::NotHttp => "adres http:// ya da https:// ile başlamıyor",
        TargetRefusal::NoHost => "adreste sunucu adı yok",
        TargetRefusal::HasCredentials => "adreste kullanıcı adı ya da parola var",
        TargetRefusal::HostNotDnsName => "adresteki sunucu adı geçerli bir alan adı değil",
        TargetRefusal::PortZero => "0 numaralı porta gönderilemez",
        TargetRefusal::PathNotSendable => "adresin yolu gönderilemiyor",
    };
    text.to_owned()
}

fn kind(address: AddressKind) -> &'static str {
    match address {
        AddressKind::Loopback => "bu makinenin kendi adresi",
        AddressKind::Private => "özel bir ağ adresi",
        AddressKind::LinkLocal => "yerel bir bağlantı adresi",
        AddressKind::CarrierShared => "operatörlerin paylaştığı bir adres",
        AddressKind::Multicast => "çok noktaya yayın adresi",
        AddressKind::Broadcast => "yayın adresi",
        AddressKind::Unspecified => "belirsiz bir adres",
        AddressKind::Reserved => "ayrılmış bir adres",
        AddressKind::Documentation => "belgelerde örnek olan bir adres",
        AddressKind::Metadata => "bulut hizmetinin iç adresi",
        AddressKind::Benchmark => "ölçüm için ayrılmış bir adres",
        AddressKind::IetfProtocol => "IETF protokollerine ayrılmış bir adres",
        AddressKind::As112 => "bir AS112 (DNS) adresi",
        AddressKind::MulticastTunnel => "çok noktaya yayın tüneli (AMT) adresi",
        AddressKind::Orchid => "yönlendirilmeyen bir adres (ORCHID)",
        AddressKind::SegmentRouting => "segment yönlendirme adresi",
        AddressKind::Relay6to4 => "6to4 aktarma adresi",
        AddressKind::DiscardOnly => "gelenin atıldığı bir adres",
        AddressKind::Ipv4Wrapper => "içinde IPv4 adresi saklayabilen bir adres",
        AddressKind::MetadataName => "bulut hizmetinin iç adı",
        AddressKind::NotListed => "işletenin izin verdiği adreslerden değil",
        AddressKind::ComputerName => "bu makinenin adı",
        AddressKind::LocalNetworkName => "yerel ağdaki bir ad",
        AddressKind::InternalNetworkName => "iç ağdaki bir ad",
        AddressKind::HomeNetworkName => "ev ağındaki bir ad",
        AddressKind::NameWithoutDot => "noktasız, yalnızca yerel ağda geçerli bir ad",
    }
}
