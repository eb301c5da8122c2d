//! A browser without script: cookies, redirects and forms.

use super::page::{Form, Page};
use super::stream::EventStream;
use super::{Reply, TestService, request, send};
use garson::flow::admin::{accounts, user_passwords};
use garson_core::secret::Secret;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The password of every account that visits.
pub const PASSWORD: &str = "correct horse";

/// A browser.
#[derive(Clone, Debug)]
pub struct PanelUser {
    pub addr: SocketAddr,
    pub cookies: BTreeMap<String, String>,
    /// What it says of itself.
    pub agent: String,
    /// The address that a proxy says it has.
    pub client: Option<String>,
}

impl TestService {
    /// A browser that has not been here yet.
    pub fn anonymous_user(&self) -> PanelUser {
        PanelUser::at(self.addr)
    }

    /// Gives an account the password.
    pub async fn give_password(&self, email: &str) {
        let account = accounts::by_email(&self.app, email).await.unwrap();
        let password = Secret::new(PASSWORD.to_owned());
        user_passwords::reset_of_account(&self.app, &account, password)
            .await
            .unwrap();
    }

    /// A browser that is signed in to the first account.
    pub async fn user(&self) -> PanelUser {
        self.user_of("first@example.com").await
    }

    /// Invites a person to the first account, who accepts; returns the user's id and a browser that is signed in.
    pub async fn colleague(
        &self,
        email: &str,
        role: &str,
        restaurants: Option<&[&str]>,
    ) -> (String, PanelUser) {
        let new = serde_json::json!({ "email": email, "role": role, "restaurantIds": restaurants });
        let invited = self.a.post("/users", &new).await.data();
        let link = invited["invitationLink"].as_str().unwrap();
        let path = &link[link.find("/invitation/").unwrap()..];
        let mut user = self.anonymous_user();
        let page = user.open(path).await;
        assert_eq!(page.status, 200, "{}", page.text());
        let filled = [("name", "Ayşe"), ("password", PASSWORD)];
        let page = user.submit(&page.form(path), &filled).await;
        assert!(page.has("Parolanız kaydedildi."), "{}", page.text());
        let page = user.sign_in(email, PASSWORD).await;
        assert_eq!((page.status, page.path.as_str()), (200, "/"), "{}", page.text());
        (invited["id"].as_str().unwrap().to_owned(), user)
    }

    pub async fn user_of(&self, email: &str) -> PanelUser {
        self.give_password(email).await;
        let mut user = self.anonymous_user();
        let page = user.sign_in(email, PASSWORD).await;
        assert_eq!((page.status, page.path.as_str()), (200, "/"), "{}", page.html);
        user
    }
}

impl PanelUser {
    /// A browser that has not been there yet.
    pub fn at(addr: SocketAddr) -> Self {
        Self {
            addr,
            cookies: BTreeMap::new(),
            agent: "Browser/1.0".to_owned(),
            client: None,
        }
    }

    /// One request, as it is; cookies come and go.
    pub async fn send(&mut self, method: &str, path: &str, more: &[(&str, &str)], body: &str) -> Reply {
        let cookies: Vec<String> = self.cookies.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let cookies = cookies.join("; ");
        let mut headers = vec![("user-agent", self.agent.as_str()), ("accept", "text/html")];
        if !cookies.is_empty() {
            headers.push(("cookie", cookies.as_str()));
        }
        if let Some(client) = &self.client {
            headers.push(("x-forwarded-for", client));
        }
        if method == "POST" {
            headers.push(("content-type", "application/x-www-form-urlencoded"));
        }
        headers.extend_from_slice(more);
        let reply = send(self.addr, &request(method, path, &headers, body.as_bytes())).await;
        let set = reply.headers.iter().filter(|(name, _)| name == "set-cookie");
        for (_, cookie) in set {
            let (name, rest) = cookie.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if value.is_empty() || rest.contains("Max-Age=0") {
                self.cookies.remove(name)
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned())
            };
        }
        reply
    }

    async fn follow(&mut self, mut path: String, mut reply: Reply) -> Page {
        for _ in 0..5 {
            if !(300..400).contains(&reply.status) {
                return Page::new(path, &reply);
            }
            reply.header("location").unwrap().clone_into(&mut path);
            reply = self.send("GET", &path, &[], "").await;
        }
        panic!("no end of redirects at {path}");
    }

    /// Goes to a page, and wherever it leads.
    pub async fn open(&mut self, path: &str) -> Page {
        let reply = self.send("GET", path, &[], "").await;
        self.follow(path.to_owned(), reply).await
    }

    /// Sends a form with these of its fields filled in.
    pub async fn submit(&mut self, form: &Form, filled: &[(&str, &str)]) -> Page {
        let body = form.body(filled);
        let reply = self.send("POST", &form.action, &[], &body).await;
        self.follow(form.action.clone(), reply).await
    }

    /// Presses a button of an order without script, and confirms it.
    pub async fn press(&mut self, form: &Form, button: &str) -> Page {
        let page = self.submit(form, &[("do", button)]).await;
        assert!(page.has("Emin misiniz?"), "{}", page.text());
        self.submit(&page.form(&form.action), &[]).await
    }

    /// Sends a form as the script does, which wants only a part of a page.
    pub async fn submit_part(&mut self, form: &Form, filled: &[(&str, &str)]) -> Page {
        let body = form.body(filled);
        let reply = self
            .send("POST", &form.action, &[("x-part", "card")], &body)
            .await;
        Page::new(form.action.clone(), &reply)
    }

    pub async fn sign_in(&mut self, email: &str, password: &str) -> Page {
        let page = self.open("/sign-in").await;
        let filled = [("email", email), ("password", password)];
        self.submit(&page.form("/sign-in"), &filled).await
    }

    /// Opens the stream of a board that is on a page.
    pub async fn follow_board(&self, board: &Page) -> EventStream {
        let path = board.attribute("data-stream");
        EventStream::open(self.addr, &path, &[("cookie", &self.cookie_header())])
            .await
            .unwrap()
    }

    pub fn cookie_header(&self) -> String {
        let cookies: Vec<String> = self.cookies.iter().map(|(n, v)| format!("{n}={v}")).collect();
        cookies.join("; ")
    }

    pub fn in_english(&mut self) {
        self.cookies.insert("garson_lang".to_owned(), "en".to_owned());
    }

    /// The answer to a stream that is refused.
    pub async fn stream_refused(&self, path: &str) -> Reply {
        let cookie = self.cookie_header();
        let refused = EventStream::open(self.addr, path, &[("cookie", &cookie)]).await;
        refused.err().unwrap()
    }
}
