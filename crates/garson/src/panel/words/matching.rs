//! Payment matching: the POS's own payment types beside the platforms'.

super::words! {
    MatchingWords {
        lead: "Platformların ödeme türlerini kasanızdaki ödeme türleriyle eşleyin; siparişler kasaya doğru türle gider." | "Match the platforms' payment methods to those of your POS, so that orders reach it with the right one.",
        source: "Kasanın ödeme türleri" | "The till's payment types",
        source_text: "Kasa programınız türlerini bu adreste verir; eşleme onları buradan okur." | "Your till program lists its payment types at this address; the matching reads them from there.",
        url: "Adres" | "Address",
        headers: "Birlikte gönderilecek başlıklar" | "Headers to send along",
        headers_hint: "Her satıra “Ad: değer”." | "One “Name: value” on each line.",
        headers_kept: "Kayıtlı başlıklar var, gösterilmez. Değiştirmemek için boş bırakın." | "Headers are kept and not shown. Leave it empty to keep them.",
        headers_remove: "Kayıtlı başlıkları sil" | "Delete the headers that are kept",
        save_source: "Adresi kaydet" | "Save the address",
        source_saved: "Adres kaydedildi." | "The address was saved.",
        problem: "Kasanın ödeme türleri okunamadı:" | "The till's payment types could not be read:",
        no_url: "Kasanın adresi girilmedi; kasadaki kimlikleri elle yazabilirsiniz." | "No address of the till was given; you can enter its ids by hand.",
        matches: "Eşlemeler" | "Matches",
        none: "Henüz eşleme yok; aşağıdaki satırları doldurun." | "No matches yet; fill in the lines below.",
        platform: "Platform" | "Platform",
        kind: "Ödeme türü" | "Payment type",
        any_kind: "(koda göre)" | "(by code)",
        code: "Platformun kodu" | "The platform's code",
        matched: "Kasadaki tür" | "The till's type",
        no_match: "(eşleme yok)" | "(no match)",
        rows_hint: "Silmek için kasadaki türü boş bırakın. Kaydedince yeni boş satırlar gelir." | "Leave the till's type empty to remove a line. New empty lines come after saving.",
        save: "Eşlemeleri kaydet" | "Save matches",
        saved: "Eşlemeler kaydedildi." | "The matches were saved.",
    }
}
