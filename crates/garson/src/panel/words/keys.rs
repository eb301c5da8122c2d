//! API keys.

super::text_set::text_set! {
    KeyWords {
        title: "API anahtarları" | "API keys",
        lead: "POS ve ERP programlarınız API'ye bu anahtarlarla erişir; webhook istekleri birincil anahtarı taşır." | "Your POS and ERP programs reach the API with these keys; webhook requests carry the primary one.",
        label: "Etiket" | "Label",
        no_label: "etiketsiz" | "no label",
        label_hint: "Örneğin: Kasa 1" | "For instance: Till 1",
        reference: "API belgesi" | "API reference",
        copy: "Kopyala" | "Copy",
        copied: "Kopyalandı" | "Copied",
        key: "Anahtar" | "Key",
        created: "Oluşturma" | "Created",
        used: "Son kullanım" | "Last used",
        never: "hiç" | "never",
        primary: "Birincil" | "Primary",
        make_primary: "Birincil yap" | "Make primary",
        revoke: "İptal et" | "Revoke",
        revoke_sure: "Bu anahtarı kullanan programlar hemen erişimini kaybeder." | "Programs that use this key lose access at once.",
        revoke_primary_sure: "Bu anahtarı kullanan programlar hemen erişimini kaybeder. Bu birincil anahtardır: iptal edilince kalanların en yenisi birincil olur ve webhook istekleri onu taşır; alıcınız eskisini bekliyorsa olayları reddeder." | "Programs that use this key lose access at once. It is the primary key: the newest of the others becomes primary, and webhook requests carry that one; a receiver that expects the old key rejects them.",
        issue: "Yeni anahtar oluştur" | "Issue a new key",
        issued: "Yeni anahtar oluşturuldu" | "A new key was issued",
        shown_once: "Bu anahtar yalnızca şimdi gösterilir. Kopyalayıp güvenli bir yere koyun." | "This key is shown only now. Copy it and keep it in a safe place.",
        issued_before: "Bu formla anahtar zaten oluşturulmuştu, ikincisi oluşturulmadı. Anahtar yalnızca bir kez gösterilir; kopyalamadıysanız iptal edip yenisini oluşturun." | "This form has already issued its key; no second one was created. A key is shown only once; if you did not copy it, revoke it and issue a new one.",
        revoked: "Anahtar iptal edildi." | "The key was revoked.",
        made_primary: "Birincil anahtar değişti." | "The primary key was changed.",
        last_key: "Son anahtar burada iptal edilemez; önce yenisini oluşturun." | "The last key cannot be revoked here; issue a new one first.",
        actions: "İşlemler" | "Actions",
    }
}
