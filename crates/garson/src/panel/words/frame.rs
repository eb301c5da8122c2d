//! What stands around every page.

super::words! {
    FrameWords {
        board: "Canlı pano" | "Live board",
        orders: "Siparişler" | "Orders",
        restaurants: "Restoranlar" | "Restaurants",
        reports: "Raporlar" | "Reports",
        payments: "Ödemeler" | "Payments",
        webhook: "Webhook" | "Webhook",
        keys: "Anahtarlar" | "Keys",
        status: "Durum" | "Status",
        menu: "Menü" | "Menu",
        skip: "İçeriğe geç" | "Skip to content",
        sign_out: "Çıkış" | "Sign out",
        sessions: "Oturumlar" | "Sessions",
        other_language: "English" | "Türkçe",
    }
}
