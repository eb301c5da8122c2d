//! Alarms: sounds, their settings on a device, and the banner of every page.

super::text_set::text_set! {
    AlarmWords {
        sound_on: "Ses açık" | "Sound on",
        sound_held: "Ses için dokunun" | "Tap to enable sound",
        sound_off: "Ses kapalı" | "Sound off",
        muted: "Sessiz" | "Muted",
        minutes: "dk" | "min",
        silence: "Sustur" | "Silence",
        settings: "Alarm ayarları" | "Alarm settings",
        device_hint: "Bu ayarlar yalnızca bu cihazda geçerlidir." | "These settings apply to this device only.",
        volume: "Ses düzeyi" | "Volume",
        sound: "Zil sesi" | "Sound",
        bell: "Zil" | "Bell",
        chime: "Melodi" | "Chime",
        beep: "Bip" | "Beep",
        marimba: "Marimba" | "Marimba",
        repeat: "Tekrar" | "Repeat",
        every_3: "3 saniyede bir" | "every 3 seconds",
        every_8: "8 saniyede bir" | "every 8 seconds",
        every_15: "15 saniyede bir" | "every 15 seconds",
        every_30: "30 saniyede bir" | "every 30 seconds",
        test: "Sesi dene" | "Test the sound",
        mute_for: "Alarmı sustur" | "Mute the alarm",
        mute_5: "5 dk" | "5 min",
        mute_15: "15 dk" | "15 min",
        mute_30: "30 dk" | "30 min",
        mute_60: "60 dk" | "60 min",
        unmute: "Sesi geri aç" | "Unmute",
        close: "Kapat" | "Close",
        urgent: "Süre doluyor" | "Time is running out",
        cancelled: "İptal edildi, hazırlamayın" | "Cancelled, stop preparing",
    }
}

super::text_set::text_set! {
    AttentionWords {
        webhook_failing: "Siparişler kasa programınıza iletilemiyor." | "Orders do not reach your POS.",
        since: "Bekleyen olay" | "Events waiting",
        endpoint_disabled: "Sürekli hata veren bir webhook alıcısı kapatıldı; artık olay almıyor." | "A webhook endpoint kept failing and was disabled; it gets no more events.",
        given_up: "olay kasa programınıza iletilemedi ve artık denenmiyor." | "events did not reach your POS and are no longer retried.",
        show: "Ayrıntılar" | "Details",
        show_failed: "Yeniden gönder" | "Resend",
        acknowledge: "Gördüm" | "Got it",
        platform_away: "ile bağlantıda sorun var" | "has connection problems",
        login_refused: "giriş bilgilerinizi kabul etmiyor" | "does not accept your credentials",
        offline: "Sunucuyla bağlantı koptu. Yeni siparişler görünmeyebilir; internet bağlantınızı kontrol edin." | "The connection to the server is lost. New orders may not appear; check your internet connection.",
        online: "Bağlantı yeniden kuruldu." | "The connection is back.",
    }
}
