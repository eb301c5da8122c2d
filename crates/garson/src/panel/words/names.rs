//! Names of payment types and order statuses.

super::text_set::text_set! {
    NameWords {
        online_card: "Online kart" | "Online card",
        card_on_delivery: "Kapıda kart" | "Card on delivery",
        cash: "Nakit" | "Cash",
        meal_card_online: "Online yemek kartı" | "Meal card, online",
        meal_card_on_delivery: "Kapıda yemek kartı" | "Meal card on delivery",
        voucher: "Kupon" | "Voucher",
        wallet: "Cüzdan" | "Wallet",
        other: "Diğer" | "Other",
        scheduled: "İleri tarihli" | "Scheduled",
        scheduled_accepted: "Ön onaylı" | "Pre-approved",
        new: "Yeni" | "New",
        preparing: "Hazırlanıyor" | "Preparing",
        on_the_way: "Yolda" | "On the way",
        delivered: "Teslim edildi" | "Delivered",
        cancelled_by_platform: "Müşteri/platform iptal etti" | "Cancelled by customer or platform",
        cancelled: "İptal edildi" | "Cancelled",
    }
}
