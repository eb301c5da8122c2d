//! The pieces that pages are built from.

super::words! {
    PartWords {
        newer: "Daha yeni" | "Newer",
        older: "Daha eski" | "Older",
        pages: "Sayfalar" | "Pages",
        cancel: "Vazgeç" | "Cancel",
    }
}
