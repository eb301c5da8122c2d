//! Search over orders.

super::text_set::text_set! {
    OrdersWords {
        title: "Siparişler" | "Orders",
        text: "Ara" | "Search",
        text_hint: "Platform no, kısa kod, müşteri adı ya da telefonu; başı yeterli" | "Platform ID, short code, customer name or phone; the first characters are enough",
        filters: "Gün, durum, platform, restoran" | "Day, status, platform, restaurant",
        from: "Başlangıç tarihi" | "Start date",
        to: "Bitiş tarihi" | "End date",
        status: "Durum" | "Status",
        any_status: "Tüm durumlar" | "Any status",
        platform: "Platform" | "Platform",
        any_platform: "Tüm platformlar" | "Any platform",
        restaurant: "Restoran" | "Restaurant",
        any_restaurant: "Tüm restoranlar" | "All restaurants",
        find: "Bul" | "Find",
        clear: "Temizle" | "Clear",
        order: "Sipariş" | "Order",
        customer: "Müşteri" | "Customer",
        at: "Zaman" | "Time",
        total: "Tutar" | "Total",
        looked: "Şu tarihe kadar arandı:" | "Searched back to:",
        go_on: "Daha eskilerde ara" | "Search further back",
        empty_title: "Sipariş bulunamadı" | "No orders found",
        empty_text: "Aramayı kısaltın ya da filtreleri kaldırın." | "Shorten the search text, or clear the filters.",
        no_words_text: "Yazdığınızda aranacak harf ya da rakam yok; siparişin numarasını, kodunu, müşteri adını ya da telefonunu yazın." | "The text contains no letter or digit; enter an order ID or code, a customer name or a phone number.",
    }
}
