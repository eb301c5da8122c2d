//! Packages: which platforms a restaurant may use, and when.

super::text_set::text_set! {
    PackageWords {
        lead: "Paketler, restoranın hangi platformları ne zaman kullanabileceğini belirler. Hiçbir paketin kapsamadığı bağlantı kapatılır." | "Packages define which platforms the restaurant may use, and when. Integrations that no package covers are switched off.",
        none: "Henüz paket yok" | "No package yet",
        none_text: "Paketi olmayan restoranın bağlantıları açılamaz. Aşağıdan bir paket ekleyin." | "Without a package no integration can be switched on. Add one below.",
        name: "Ad" | "Name",
        platforms: "Platformlar" | "Platforms",
        all: "Tüm platformlar (yeni gelenler dahil)" | "All platforms (including future ones)",
        starts: "Başlangıç" | "Starts",
        starts_hint: "Boş bırakılırsa şimdi." | "Starts now when left empty.",
        ends: "Bitiş tarihi" | "End date",
        ends_hint: "Boş bırakılırsa süresiz." | "Open-ended when left empty.",
        remove: "Bu paketi kaldır" | "Remove this package",
        new: "Yeni paket" | "New package",
        new_hint: "Eklemek istemiyorsanız adını boş bırakın." | "Leave the name empty if you do not want to add one.",
        current: "geçerli" | "current",
        over: "süresi doldu" | "has ended",
        coming: "başlamadı" | "not started",
        save: "Paketleri kaydet" | "Save packages",
        saved: "Paketler kaydedildi." | "The packages were saved.",
        wrong_day: "Geçersiz tarih; takvimden seçin ya da 2026-03-01 biçiminde yazın." | "Not a valid date; choose one, or write it as 2026-03-01.",
    }
}
