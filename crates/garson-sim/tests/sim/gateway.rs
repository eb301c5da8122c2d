//! What a strict gateway does not let through, whichever platform is behind it.

use garson_sim::{Platform, views::Courier};

use crate::support::{Stage, post, raw_call};

const JSON: (&str, &str) = ("Content-Type", "application/json");
const NO_LENGTH: (&str, &str) = ("Content-Length", "0");

#[tokio::test]
async fn a_request_that_may_have_a_body_must_say_its_length() {
    for platform in Platform::ALL {
        let stage = Stage::new(platform, "4411").await;
        let url = stage.url("/anything");
        for method in ["POST", "PUT", "PATCH"] {
            let answer = raw_call(method, &url, &[JSON], "").await.unwrap();
            assert_eq!(answer.status, 411, "{platform} {method}");
            let answer = raw_call(method, &url, &[JSON, NO_LENGTH], "").await.unwrap();
            assert_ne!(answer.status, 411, "{platform} {method}");
        }
        for method in ["GET", "DELETE"] {
            let answer = raw_call(method, &url, &[], "").await.unwrap();
            assert_ne!(answer.status, 411, "{platform} {method}");
        }
        let line = stage.control.journal(None, 0).await.unwrap().remove(0);
        assert_eq!(
            (line.status, line.note.as_str()),
            (Some(411), "Content-Length is missing")
        );
    }
}

#[tokio::test]
async fn a_move_without_a_length_is_not_made() {
    let stage = Stage::new(Platform::Getir, "1").await;
    let keys = r#"{"appSecretKey":"app","restaurantSecretKey":"rest"}"#;
    let login = post(&stage.url("/auth/login"), &[JSON], keys).await;
    let token = ("token", login.body["token"].as_str().unwrap());
    let id = stage.quiet_order(Courier::Platform).await.provider_order_id;
    let url = stage.url(&format!("/food-orders/{id}/verify"));
    let answer = raw_call("POST", &url, &[token], "").await.unwrap();
    assert_eq!((answer.status, stage.state(&id).await.as_str()), (411, "400"));
    let answer = raw_call("POST", &url, &[token, NO_LENGTH], "").await.unwrap();
    assert_eq!((answer.status, stage.state(&id).await.as_str()), (200, "500"));
}

#[tokio::test]
async fn migros_minds_the_case_of_its_key() {
    let stage = Stage::new(Platform::Migros, "4411").await;
    let url = stage.url("/Store/GetStoreDetail");
    for (name, status) in [
        ("XApiKey", 200),
        ("xapikey", 401),
        ("Xapikey", 401),
        ("XAPIKEY", 401),
    ] {
        let answer = raw_call("GET", &url, &[(name, "branch-key")], "").await.unwrap();
        assert_eq!(answer.status, status, "{name}");
    }
}

#[tokio::test]
async fn other_names_may_be_written_in_any_case() {
    let stage = Stage::new(Platform::Getir, "1").await;
    let keys = r#"{"appSecretKey":"app","restaurantSecretKey":"rest"}"#;
    let login = post(&stage.url("/auth/login"), &[JSON], keys).await;
    let token = login.body["token"].as_str().unwrap();
    for name in ["token", "Token"] {
        let answer = raw_call("GET", &stage.url("/restaurants"), &[(name, token)], "").await;
        assert_eq!(answer.unwrap().status, 200, "{name}");
    }
}
