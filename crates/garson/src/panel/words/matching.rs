//! Payment matching.

super::text_set::text_set! {
    MatchingWords {
        lead: "Platformların ödeme türlerini kasanızdaki ödeme türleriyle eşleyin; siparişler kasaya doğru türle gider." | "Match the platforms' payment methods to those of your POS, so that orders reach it with the right one.",
        source: "Kasanın ödeme türleri" | "POS payment types",
        source_text: "Kasa programınız türlerini bu adreste verir; eşleme onları buradan okur." | "Your POS lists its payment types at this address; the matching reads them from there.",
        url: "Adres" | "Address",
        headers: "Birlikte gönderilecek başlıklar" | "Headers to send along",
        headers_hint: "Her satıra “Ad: değer”." | "One “Name: value” on each line.",
        headers_kept: "Kayıtlı başlıklar var, gösterilmez. Değiştirmemek için boş bırakın." | "Headers are stored and not shown. Leave empty to keep them.",
        headers_remove: "Kayıtlı başlıkları sil" | "Delete the stored headers",
        save_source: "Adresi kaydet" | "Save the address",
        source_saved: "Adres kaydedildi." | "The address was saved.",
        problem: "Kasanın ödeme türleri okunamadı:" | "The payment types of the POS could not be read:",
        no_url: "Kasanın adresi girilmedi; kasadaki kimlikleri elle yazabilirsiniz." | "No POS address was given; you can enter the IDs by hand.",
        matches: "Eşlemeler" | "Matches",
        none: "Henüz eşleme yok; aşağıdaki satırları doldurun." | "No matches yet; fill in the rows below.",
        platform: "Platform" | "Platform",
        kind: "Ödeme türü" | "Payment type",
        any_kind: "(koda göre)" | "(by code)",
        code: "Platformun kodu" | "Platform code",
        matched: "Kasadaki tür" | "POS type",
        no_match: "(eşleme yok)" | "(no match)",
        rows_hint: "Silmek için kasadaki türü boş bırakın. Kaydedince yeni boş satırlar gelir." | "Leave the POS type empty to remove a row. Saving adds new empty rows.",
        save: "Eşlemeleri kaydet" | "Save matches",
        saved: "Eşlemeler kaydedildi." | "The matches were saved.",
    }
}
