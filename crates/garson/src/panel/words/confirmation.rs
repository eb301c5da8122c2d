//! Asking for the password again.

super::text_set::text_set! {
    ConfirmationWords {
        title: "Siz olduğunuzu doğrulayın" | "Confirm that it is you",
        lead: "Bu değişiklikten önce parolanızı yeniden girin. Doldurduklarınız korunur; 10 dakika boyunca yeniden sorulmaz." | "Enter your password again before this change. What you have filled in is kept; you are not asked again for 10 minutes.",
        password: "Parola" | "Password",
        code: "Ya da doğrulama kodu" | "Or an authentication code",
        code_hint: "Uygulamadaki altı haneli kod." | "The six digits that your app shows.",
        submit: "Doğrula ve devam et" | "Confirm and continue",
        lead_without_password: "Bu değişiklikten önce siz olduğunuzu yeniden doğrulayın. Doldurduklarınız korunur; 10 dakika boyunca yeniden sorulmaz." | "Prove again that it is you before this change. What you have filled in is kept; you are not asked again for 10 minutes.",
        only_code: "Doğrulama kodu" | "Authentication code",
        openid: "{label} ile doğrula (yeni sekmede)" | "Confirm with {label} (in a new tab)",
        openid_then: "Doğruladıktan sonra bu sekmeye dönüp devam edin." | "Then return to this tab and continue.",
        confirmed: "Doğrulandı" | "Confirmed",
        confirmed_text: "Bu sekmeyi kapatın ve öncekinde devam edin." | "Close this tab, and continue in the previous one.",
        not_confirmed: "Doğrulanamadı" | "Not confirmed",
        not_confirmed_text: "Giriş hizmeti başka bir kullanıcı bildirdi ya da sizden yeniden giriş istemedi. Bu sekmeyi kapatın ve öncekinde yeniden deneyin." | "The sign-in service named another user, or did not ask you to sign in again. Close this tab, and try again in the previous one.",
        wrong: "Parola ya da kod yanlış." | "The password or the code is wrong.",
        locked: "Çok fazla hatalı deneme oldu. Birkaç dakika sonra yeniden deneyin." | "There were too many wrong attempts. Try again in a few minutes.",
    }
}
