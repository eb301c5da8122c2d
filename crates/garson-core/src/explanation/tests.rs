use super::*;
use std::time::Duration;

#[test]
fn stored_codes_are_read_back() {
    let network = NetworkFailure::NameNotResolvedInTime {
        name: "till.example".to_owned(),
        within: Duration::from_millis(2500),
    };
    let cause = Box::new(Explanation::from(network));
    for explanation in [
        Explanation::answered(200, None),
        Explanation::answered(400, Some("no <such> order")),
        Explanation::answered(500, Some("")),
        NetworkFailure::CannotConnect {
            error: ConnectionError::Other("no space".to_owned()),
        }
        .into(),
        TlsFailure::Alert { name: None }.into(),
        PlatformFailure::Unsupported {
            task: PlatformTask::ReadMenu,
        }
        .into(),
        TargetRefusal::Is {
            host: "localhost".to_owned(),
            address: AddressKind::ComputerName,
        }
        .into(),
        Explanation::LoginRefused { cause: cause.clone() },
        Explanation::SentByHand {
            result: Box::new(Explanation::SentAgain { result: cause }),
        },
        Explanation::text("the kitchen is on fire"),
        Explanation::text(r#"{"code":"no code of ours"}"#),
        Explanation::text(""),
    ] {
        assert_eq!(Explanation::read(&explanation.stored()), explanation);
    }
}

#[test]
fn stored_form_is_a_code_with_arguments() {
    assert_eq!(
        Explanation::answered(404, None).stored(),
        r#"{"code":"answered","status":404}"#
    );
    let refused = NetworkFailure::CannotConnect {
        error: ConnectionError::Refused,
    };
    assert_eq!(
        Explanation::from(refused).stored(),
        r#"{"code":"network","kind":"cannot_connect","error":"refused"}"#
    );
}

#[test]
fn text_of_older_versions_is_kept() {
    let old = "answered 500, only 2xx is success";
    assert_eq!(Explanation::read(old), Explanation::text(old));
    assert_eq!(Explanation::text(old).stored(), old);
    let unknown = r#"{"code":"of a newer version"}"#;
    assert_eq!(Explanation::read(unknown), Explanation::text(unknown));
}

#[test]
fn english_names_arguments() {
    let login = Explanation::LoginRefused {
        cause: Box::new(Explanation::answered(401, Some("bad key"))),
    };
    assert_eq!(login.to_string(), "the log-in was refused: answered 401: bad key");
    let slow = NetworkFailure::NoAnswerInTime {
        within: Duration::from_millis(300),
    };
    assert_eq!(slow.to_string(), "no answer within 0.3 s");
}
