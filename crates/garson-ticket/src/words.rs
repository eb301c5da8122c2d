//! The texts of tickets, in Turkish and English side by side.

use crate::options::Lang;
use garson_core::payment::PaymentType;

macro_rules! words {
    ($($name:ident: $tr:literal | $en:literal,)*) => {
        #[derive(Clone, Copy)]
        pub struct Words {
            $(pub $name: &'static str,)*
        }

        impl Words {
            #[must_use]
            pub const fn of(lang: Lang) -> Self {
                match lang {
                    Lang::Tr => Self { $($name: $tr,)* },
                    Lang::En => Self { $($name: $en,)* },
                }
            }
        }
    };
}

words! {
    kitchen: "Mutfak fişi" | "Kitchen ticket",
    courier: "Kurye fişi" | "Courier ticket",
    customer: "Müşteri fişi" | "Customer receipt",
    cancelled: "İPTAL EDİLDİ" | "CANCELLED",
    copy: "TEKRAR BASKI" | "REPRINT",
    maybe_copy: "DİKKAT: DAHA ÖNCE BASILMIŞ OLABİLİR" | "CAUTION: MAY BE PRINTED ALREADY",
    received: "Geliş" | "Received",
    printed: "Basım" | "Printed",
    promised: "Söz verilen saat" | "Promised for",
    scheduled: "İLERİ TARİHLİ" | "SCHEDULED",
    courier_comes: "Kurye gelişi" | "Courier arrives",
    courier_platform: "Platform kuryesi" | "Platform courier",
    courier_restaurant: "Restoran kuryesi" | "Own courier",
    pickup: "Gel al" | "Pickup",
    pickup_code: "Teslim kodu" | "Pickup code",
    left_out: "OLMASIN" | "LEAVE OUT",
    note: "Not" | "Note",
    order_note: "SİPARİŞ NOTU" | "ORDER NOTE",
    no_cutlery: "Plastik çatal-bıçak gönderilmesin" | "No cutlery",
    do_not_ring: "ZİLE BASMA" | "DO NOT RING",
    drop_at_door: "KAPIYA BIRAK" | "LEAVE AT THE DOOR",
    pieces: "ürün" | "items",
    revision: "DEĞİŞTİ – sürüm" | "CHANGED – version",
    name: "Müşteri" | "Customer",
    phone: "Telefon" | "Phone",
    extension: "dahili" | "ext.",
    building: "Bina" | "Building",
    floor: "Kat" | "Floor",
    door: "Daire" | "Door",
    directions: "Tarif" | "Directions",
    no_address: "Adres bilgisi yok" | "No address given",
    map: "Haritada aç" | "Open the map",
    order: "Sipariş" | "Order",
    collect: "tahsil et" | "Collect",
    nothing_to_collect: "ÖDENDİ – tahsilat yok" | "PAID – nothing to collect",
    subtotal: "Ara toplam" | "Subtotal",
    discount: "İndirim" | "Discount",
    delivery_fee: "Teslimat ücreti" | "Delivery fee",
    tip: "Bahşiş" | "Tip",
    adjustment: "Fark" | "Difference",
    total: "TOPLAM" | "TOTAL",
    payment: "Ödeme" | "Payment",
    paid: "Ödendi" | "Paid",
    to_pay: "Teslimatta ödenecek" | "To pay on delivery",
    not_fiscal: "Bilgi fişidir, mali değeri yoktur." | "For information only, not a tax receipt.",
    enjoy: "Afiyet olsun!" | "Enjoy your meal!",
    print: "Yazdır" | "Print",
    paper: "Kâğıt" | "Paper",
    kinds: "Fiş türü" | "Ticket",
    cash: "Nakit" | "Cash",
    card_on_delivery: "Kapıda kart" | "Card on delivery",
    online_card: "Online kart" | "Online card",
    meal_card_online: "Online yemek kartı" | "Meal card, online",
    meal_card_on_delivery: "Kapıda yemek kartı" | "Meal card on delivery",
    voucher: "Çek" | "Voucher",
    wallet: "Cüzdan" | "Wallet",
    other: "Diğer" | "Other",
}

impl Words {
    #[must_use]
    pub fn payment_type(&self, kind: PaymentType) -> &'static str {
        match kind {
            PaymentType::OnlineCard => self.online_card,
            PaymentType::CardOnDelivery => self.card_on_delivery,
            PaymentType::Cash => self.cash,
            PaymentType::MealCardOnline => self.meal_card_online,
            PaymentType::MealCardOnDelivery => self.meal_card_on_delivery,
            PaymentType::Voucher => self.voucher,
            PaymentType::Wallet => self.wallet,
            PaymentType::Other => self.other,
        }
    }
}
