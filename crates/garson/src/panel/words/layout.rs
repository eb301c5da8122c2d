//! The layout around every page.

super::text_set::text_set! {
    LayoutWords {
        board: "Canlı pano" | "Live board",
        orders: "Siparişler" | "Orders",
        today: "Günün özeti" | "Day summary",
        book: "Belgeler" | "Documentation",
        reference: "API belgesi" | "API reference",
        developer: "Geliştirici" | "Developer",
        account_menu: "Hesap menüsü" | "Account menu",
        restaurants: "Restoranlar" | "Restaurants",
        reports: "Raporlar" | "Reports",
        payments: "Ödemeler" | "Payments",
        webhook: "Webhook" | "Webhook",
        keys: "API anahtarları" | "API keys",
        requests: "API istekleri" | "API requests",
        notices: "Bildirimler" | "Notifications",
        status: "Durum" | "Status",
        menu: "Menü" | "Menu",
        skip: "İçeriğe geç" | "Skip to content",
        sign_out: "Çıkış" | "Sign out",
        account: "Hesap" | "Account",
        sessions: "Oturumlar ve parola" | "Sessions and password",
        users: "Kullanıcılar" | "Users",
        audit: "Denetim kaydı" | "Audit log",
        privacy: "Kişisel veriler" | "Personal data",
        other_language: "English" | "Türkçe",
    }
}
