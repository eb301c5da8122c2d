//! The request log.

super::text_set::text_set! {
    RequestWords {
        title: "API istekleri" | "API requests",
        lead: "Bu hesabın anahtarlarıyla yapılan son 1.000 API isteği. Yeni bir istek en geç iki saniye içinde görünür. Sorgu değerleri, gövdeler ve anahtarlar saklanmaz; geçersiz anahtarla yapılan istekler hiçbir hesaba ait olmadığı için burada yer almaz." | "The last 1,000 API requests with keys of this account. A new request appears within two seconds. Values of queries, bodies and keys are not kept; requests with an invalid key belong to no account and are not listed.",
        status: "Sonuç" | "Result",
        any_status: "Tüm istekler" | "All requests",
        failed: "Yalnızca başarısız olanlar" | "Failed ones only",
        key: "Anahtar" | "Key",
        any_key: "Tüm anahtarlar" | "All keys",
        removed_key: "silinmiş anahtar" | "revoked key",
        find: "Göster" | "Show",
        clear: "Temizle" | "Clear",
        at: "Zaman" | "Time",
        request: "İstek" | "Request",
        duration: "Süre" | "Duration",
        sender: "İstek no ve adres" | "Request ID and address",
        empty_title: "İstek yok" | "No requests",
        empty_text: "Bu süzgece uyan istek yapılmamış." | "No request matches this filter.",
    }
}
