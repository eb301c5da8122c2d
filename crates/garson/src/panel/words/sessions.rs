//! Open sessions, and the password.

super::text_set::text_set! {
    SessionWords {
        title: "Oturumlar ve parola" | "Sessions and password",
        lead: "Giriş yaptığınız tarayıcılar. Tanımadığınız biri varsa oturumunu sonlandırıp parolanızı değiştirin." | "Browsers in which you are signed in. If you do not recognize one, end its session and change the password.",
        address: "Adres" | "Address",
        end_all: "Her yerden çıkış yap" | "Sign out everywhere",
        end_all_sure: "Bu tarayıcıdaki oturum da kapanır." | "The session of this browser ends, too.",
        browser: "Tarayıcı" | "Browser",
        since: "Açılış" | "Since",
        seen: "Son görülme" | "Last seen",
        actions: "İşlemler" | "Actions",
        unknown: "Bilinmeyen tarayıcı" | "Unknown browser",
        this_one: "bu tarayıcı" | "this browser",
        end: "Sonlandır" | "End",
        end_others: "Diğer tüm oturumları sonlandır" | "End all other sessions",
        ended: "Oturum sonlandırıldı." | "The session was ended.",
        others_ended: "Diğer tüm oturumlar sonlandırıldı." | "All other sessions were ended.",
        change_password: "Parolayı değiştir" | "Change password",
        old_password: "Mevcut parola" | "Current password",
        new_password: "Yeni parola" | "New password",
        new_password_hint: "En az 8 karakter. Diğer tüm oturumlar kapanır." | "At least 8 characters. All other sessions are ended.",
        password_changed: "Parola değiştirildi, diğer oturumlar kapatıldı." | "The password was changed; other sessions were ended.",
        old_wrong: "Mevcut parola yanlış." | "The current password is wrong.",
        new_wrong: "Yeni parola en az 8 karakter olmalı ve kolay tahmin edilen bir parola olmamalı." | "The new password must have at least 8 characters and must not be easy to guess.",
        locked: "Çok fazla hatalı deneme oldu. Birkaç dakika sonra yeniden deneyin." | "There were too many wrong attempts. Try again in a few minutes.",
    }
}
