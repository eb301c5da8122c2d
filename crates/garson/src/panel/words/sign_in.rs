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
        help: "Parolanız yoksa sistem yöneticisinden isteyin." | "If you have no password, ask your system administrator.",
    }
}
