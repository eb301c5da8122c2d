//! A restaurant's menu on a platform.

super::text_set::text_set! {
    MenuWords {
        lead: "Restoranın platformdaki menüsü, platformdan okunduğu gibi." | "The restaurant's menu on the platform, as it was read from there.",
        platform: "Platform" | "Platform",
        read_at: "Okunma" | "Read",
        none: "Menüsü okunabilen bağlı platform yok" | "No connected platform offers its menu",
        none_text: "Menüsünü paylaşan bir platform bağlayın." | "Connect a platform that shares its menu.",
        connect: "Platform bağla" | "Connect a platform",
        empty: "Menü boş" | "The menu is empty",
        empty_text: "Platformda bu restoran için ürün yok. Ürünleri platformun kendi ekranından ekleyin." | "The platform has no products of this restaurant. Add them on the platform's own screen.",
        failed: "Menü okunamadı." | "The menu could not be read.",
        closed: "satışta değil" | "not on sale",
        products: "ürün" | "products",
        options: "Seçenekler" | "Options",
        choose: "seçim" | "to choose",
        at_least: "en az" | "at least",
        at_most: "en çok" | "at most",
    }
}
