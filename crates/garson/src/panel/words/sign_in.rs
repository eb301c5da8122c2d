//! Signing in.

super::text_set::text_set! {
    SignInWords {
        title: "Giriş" | "Sign in",
        lead: "Restoranınızın siparişleri tek yerde." | "Your restaurant's orders in one place.",
        email: "E-posta" | "E-mail",
        password: "Parola" | "Password",
        submit: "Giriş yap" | "Sign in",
        refused: "E-posta ya da parola yanlış." | "E-mail or password is wrong.",
        locked: "Çok fazla hatalı deneme oldu. Birkaç dakika sonra yeniden deneyin." | "There were too many wrong attempts. Try again in a few minutes.",
        forgot: "Parolamı unuttum" | "Forgot password",
        openid: "{label} ile giriş yap" | "Sign in with {label}",
        openid_ended: "Giriş yarıda kaldı ya da çok uzun sürdü. Yeniden deneyin." | "The sign-in was interrupted or took too long. Try again.",
        openid_unavailable: "Giriş hizmetine ulaşılamıyor. Parolanızla giriş yapın ya da biraz sonra yeniden deneyin." | "The sign-in service cannot be reached. Sign in with your password, or try again later.",
        openid_refused: "Giriş hizmeti girişi onaylamadı." | "The sign-in service did not confirm the sign-in.",
        openid_not_verified: "Giriş hizmeti e-posta adresinizin doğrulandığını bildirmiyor." | "The sign-in service does not say that your e-mail address is verified.",
        openid_no_user: "Bu e-posta adresiyle etkin bir kullanıcı yok. Hesap sahibinden davet isteyin." | "There is no active user with this e-mail address. Ask the account's owner for an invitation.",
        openid_other: "Bu e-posta adresi giriş hizmetindeki başka bir kimliğe bağlı. Hesap sahibine başvurun." | "This e-mail address is connected to another identity at the sign-in service. Ask the account's owner.",
        help: "Parolanız yoksa sistem yöneticisinden isteyin." | "If you have no password, ask your system administrator.",
    }
}
