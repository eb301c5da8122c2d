//! The pieces that pages are built from.

super::words! {
    PartWords {
        newer: "Daha yeni" | "Newer",
        older: "Daha eski" | "Older",
        pages: "Sayfalar" | "Pages",
        no_orders_title: "Henüz sipariş yok" | "No orders yet",
        no_orders_text: "Restoranınızı bir platforma bağlayın; siparişleri geldikçe burada görünür." | "Connect your restaurant to a platform; its orders appear here as they come in.",
        not_a_day: "Takvimde böyle bir gün yok." | "There is no such day.",
        before_first_day: "Son gün ilk günden önce olamaz." | "The last day must not be before the first.",
        cancel: "Vazgeç" | "Cancel",
    }
}
