//! What is wrong with a form.

super::text_set::text_set! {
    FormErrorTexts {
        marked_question: "İşaretli alanı düzeltip yeniden deneyin." | "Correct the marked field and try again.",
        marked: "Kaydedilmedi. İşaretli alanı düzeltip yeniden gönderin." | "Not saved. Correct the marked field and send it again.",
        name_differs: "Ad eşleşmiyor; hiçbir şey silinmedi." | "The name does not match; nothing was deleted.",
        remote_id_taken: "Bu şube başka bir bağlantıya ait; kimliğini kontrol edin." | "This branch belongs to another integration; check its id.",
        reason_not_accepted: "Platform bu nedeni kabul etmiyor; listeden birini seçin." | "The platform does not accept this reason; choose one of its own.",
        not_an_address: "Bu adrese gönderilemez:" | "This address is not allowed:",
    }
}
