//! The page that the installed app shows without a connection.

super::text_set::text_set! {
    OfflineWords {
        title: "Bağlantı yok" | "No connection",
        text: "Sunucuya ulaşılamıyor; internet bağlantınızı kontrol edin. Bağlantı gelince sayfa kendiliğinden açılır." | "The server cannot be reached; check your internet connection. The page opens by itself once the connection is back.",
        warning: "Bu sırada gelen siparişler burada görünmez." | "Orders that arrive in the meantime are not shown here.",
        retry: "Yeniden dene" | "Try again",
        app_name: "Garson" | "Garson",
        app_description: "Yemek siparişleri tek ekranda" | "Food orders on one screen",
    }
}
