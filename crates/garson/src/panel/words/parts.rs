//! The pieces that pages are built from.

super::words! {
    PartWords {
        newer: "Daha yeni" | "Newer",
        older: "Daha eski" | "Older",
        pages: "Sayfalar" | "Pages",
        not_a_day: "Takvimde böyle bir gün yok." | "There is no such day.",
        before_first_day: "Son gün ilk günden önce olamaz." | "The last day must not be before the first.",
        cancel: "Vazgeç" | "Cancel",
    }
}
