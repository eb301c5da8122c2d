//! Components that several pages use.

super::text_set::text_set! {
    ComponentWords {
        newer: "Daha yeni" | "Newer",
        older: "Daha eski" | "Older",
        pages: "Sayfalar" | "Pages",
        no_orders_title: "Henüz sipariş yok" | "No orders yet",
        no_orders_text: "Restoranınızı bir platforma bağlayın; siparişleri geldikçe burada görünür." | "Connect your restaurant to a platform; its orders appear here as they come in.",
        not_a_day: "Geçerli bir tarih girin." | "Not a valid date.",
        before_first_day: "Bitiş tarihi başlangıçtan önce olamaz." | "The end date must not be before the start date.",
        cancel: "Vazgeç" | "Cancel",
        copy: "Kopyala" | "Copy",
        copied: "Kopyalandı" | "Copied",
        live: "Canlı" | "Live",
        offline: "Bağlantı koptu, yeniden bağlanılıyor" | "Connection lost, reconnecting",
        not_live: "Bu sayfa kendiliğinden güncellenmez; son durum için sayfayı yenileyin." | "This page does not update by itself; reload it for the current state.",
        just_now: "az önce" | "just now",
    }
}
