//! The escalation of a restaurant.

super::text_set::text_set! {
    EscalationWords {
        lead: "Sipariş onaylanmazsa sırayla ne yapılacağını belirleyin. Sipariş onaylanınca ya da iptal edilince kalan adımlar uygulanmaz." | "Choose what happens when an order is not accepted. Once it is accepted or cancelled, the remaining steps are dropped.",
        steps: "Adımlar" | "Steps",
        step: "Adım" | "Step",
        none: "Henüz adım yok." | "No steps yet.",
        action: "Ne yapılsın" | "Action",
        no_action: "— (adım yok)" | "— (no step)",
        ring: "Sipariş ekranı acil olarak çalsın" | "Ring urgently on the boards",
        message: "Mesaj gönderilsin" | "Send a message",
        verify: "Sipariş otomatik onaylansın" | "Accept the order automatically",
        cancel: "Sipariş iptal edilsin" | "Cancel the order",
        seconds: "Süre (saniye)" | "Time (seconds)",
        when: "Ne zaman" | "When",
        before: "son onay saatinden önce" | "before the deadline to accept",
        after: "son onay saatinden sonra" | "after the deadline to accept",
        age: "sipariş geldikten sonra" | "after the order arrived",
        channel: "Kanal (mesaj için)" | "Channel (for a message)",
        no_channel: "Kanal seçin" | "Choose a channel",
        note: "Not (iptal için)" | "Note (for a cancellation)",
        unwatched: "Yalnızca kimse izlemiyorsa" | "Only if nobody is watching",
        hint: "Son onay saati olmayan siparişlerde yalnızca “sipariş geldikten sonra” adımları uygulanır. İptalde bağlantının varsayılan iptal nedeni kullanılır." | "For orders without a deadline only steps “after the order arrived” are taken. A cancellation uses the integration's default reason.",
        no_channels: "Mesaj göndermek için önce bir kanal ekleyin." | "Add a channel first to send messages.",
        channels: "Bildirimler sayfasını aç" | "Open the notifications page",
        watching: "Şu anda izleyen" | "Watching now",
        nobody: "Şu anda bu restoranı izleyen ekran ya da program yok." | "No board or program is watching this restaurant right now.",
        save: "Adımları kaydet" | "Save the steps",
        saved: "Adımlar kaydedildi. Yeni gelen siparişlere uygulanır." | "The steps were saved. They apply to orders that arrive from now on.",
    }
}
