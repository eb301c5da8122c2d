//! An OpenID Connect provider that says what a test wants, true or not.

use super::Reply;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{KeyPair, PKCS_ED25519, SigningKey as _};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The client that the provider knows.
pub const CLIENT: &str = "garson-tests";
pub const CLIENT_SECRET: &str = "the secret of the client";
/// Tokens are valid until then: the year 2100.
const FAR: i64 = 4_102_444_800;

/// How the provider answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderMood {
    Works,
    /// It accepts connections and says nothing.
    Hangs,
    /// It answers everything with a page that never ends.
    Endless,
    /// It answers everything with a list instead of an object.
    Nonsense,
    /// It works, but hangs when a code is exchanged.
    HangsAtTheCode,
}

/// Who somebody is for the provider, and what is wrong with the token.
#[derive(Clone, Debug)]
pub struct Person {
    /// The claims of the ID token besides issuer, audience, times and nonce, which they replace.
    pub claims: Value,
    /// What is signed how.
    pub signature: Signature,
    /// The claims of the person's own page instead of the token.
    pub info: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    Right,
    /// By a key that the provider does not publish.
    OtherKey,
    /// The algorithm `none`, and no signature.
    None,
    /// Made before the claims were changed.
    OfOtherClaims,
}

impl Person {
    pub fn new(subject: &str, email: &str) -> Self {
        Self {
            claims: json!({ "sub": subject, "email": email, "email_verified": true }),
            signature: Signature::Right,
            info: None,
        }
    }

    /// The same with another claim.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.claims[name] = value.into();
        self
    }

    pub fn signed(mut self, signature: Signature) -> Self {
        self.signature = signature;
        self
    }
}

pub struct TestProvider {
    shared: Arc<Shared>,
}

struct Shared {
    issuer: String,
    state: Mutex<State>,
}

struct State {
    mood: ProviderMood,
    key: KeyPair,
    key_id: String,
    /// The nonce and the person of each code that was not exchanged.
    codes: BTreeMap<String, (String, Person)>,
    info: Value,
    /// Who signs in with a browser, and the service to which the browser is sent back.
    arriving: Option<(Person, SocketAddr)>,
    connections: usize,
    issued: usize,
}

impl TestProvider {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            issuer: format!("http://{addr}"),
            state: Mutex::new(State {
                mood: ProviderMood::Works,
                key: KeyPair::generate_for(&PKCS_ED25519).unwrap(),
                key_id: "first".to_owned(),
                codes: BTreeMap::new(),
                info: Value::Null,
                arriving: None,
                connections: 0,
                issued: 0,
            }),
        });
        let serving = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serving.state.lock().unwrap().connections += 1;
                tokio::spawn(serve(Arc::clone(&serving), stream));
            }
        });
        Self { shared }
    }

    pub fn issuer(&self) -> String {
        self.shared.issuer.clone()
    }

    pub fn set(&self, mood: ProviderMood) {
        self.shared.state.lock().unwrap().mood = mood;
    }

    /// Signs with another key from now on.
    pub fn change_key(&self, id: &str) {
        let mut state = self.shared.state.lock().unwrap();
        state.key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        id.clone_into(&mut state.key_id);
    }

    /// Browsers that are sent here have this person sign in at once, and go back to the service.
    pub fn let_arrive(&self, person: Person, service: SocketAddr) {
        self.shared.state.lock().unwrap().arriving = Some((person, service));
    }

    pub fn connections(&self) -> usize {
        self.shared.state.lock().unwrap().connections
    }

    /// Lets a person sign in who was sent here with a redirect; returns the path of the callback.
    pub fn sign_in(&self, redirect: &Reply, person: &Person) -> String {
        let location = redirect
            .header("location")
            .unwrap_or_else(|| panic!("{}", redirect.text()));
        let start = format!("{}/authorize?", self.shared.issuer);
        let query = location
            .strip_prefix(&start)
            .unwrap_or_else(|| panic!("{location}"));
        let query = decoded(query);
        assert_eq!(query["client_id"], CLIENT);
        assert_eq!(query["response_type"], "code");
        assert_eq!(
            query["redirect_uri"],
            "https://panel.example.com/sign-in/openid/callback"
        );
        assert_eq!(query["code_challenge_method"], "S256");
        assert!(query["scope"].contains("openid") && query["scope"].contains("email"));
        let mut state = self.shared.state.lock().unwrap();
        state.callback(&query, person.clone())
    }
}

impl State {
    /// The path of the callback for a person who was sent here with a query.
    fn callback(&mut self, query: &BTreeMap<String, String>, person: Person) -> String {
        self.issued += 1;
        let code = format!("code{}", self.issued);
        self.codes.insert(code.clone(), (query["nonce"].clone(), person));
        format!("/sign-in/openid/callback?code={code}&state={}", query["state"])
    }
}

/// The fields of a query or a form.
fn decoded(query: &str) -> BTreeMap<String, String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), percent_decoded(value)))
        .collect()
}

fn percent_decoded(text: &str) -> String {
    let (bytes, mut plain, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'%' => {
                plain.push(u8::from_str_radix(&text[at + 1..at + 3], 16).unwrap());
                at += 2;
            }
            b'+' => plain.push(b' '),
            byte => plain.push(byte),
        }
        at += 1;
    }
    String::from_utf8(plain).unwrap()
}

/// Reads one request and answers it.
async fn serve(shared: Arc<Shared>, mut stream: TcpStream) -> Option<()> {
    let (head, body) = read_request(&mut stream).await?;
    let path = head.split(' ').nth(1)?.to_owned();
    let mood = shared.state.lock().unwrap().mood;
    let is_stuck = mood == ProviderMood::Hangs || (mood == ProviderMood::HangsAtTheCode && path == "/token");
    if is_stuck {
        // Until the client gives up.
        stream.read_to_end(&mut Vec::new()).await.ok()?;
        return None;
    }
    if mood == ProviderMood::Endless {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n[";
        stream.write_all(head).await.ok()?;
        loop {
            stream.write_all(&[b' '; 8192]).await.ok()?;
        }
    }
    if let Some((_, query)) = path.split_once("/authorize?") {
        let head = shared.arrive(&decoded(query))?;
        return stream.write_all(head.as_bytes()).await.ok();
    }
    let (status, answer) = match mood {
        ProviderMood::Nonsense => (200, json!([1, "two"])),
        _ => shared.answer(&path, &head, &body),
    };
    let text = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    stream.write_all((head + &text).as_bytes()).await.ok()
}

async fn read_request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse::<usize>().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return Some((head.to_owned(), body.to_owned()));
            }
        }
        let mut part = [0; 4096];
        let count = stream.read(&mut part).await.ok()?;
        if count == 0 {
            return None;
        }
        bytes.extend_from_slice(&part[..count]);
    }
}

impl Shared {
    /// Sends the browser back with the person who was announced.
    fn arrive(&self, query: &BTreeMap<String, String>) -> Option<String> {
        let mut state = self.state.lock().unwrap();
        let (person, service) = state.arriving.clone()?;
        let callback = state.callback(query, person);
        Some(format!(
            "HTTP/1.1 302 Found\r\nlocation: http://{service}{callback}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        ))
    }

    fn answer(&self, path: &str, head: &str, body: &str) -> (u16, Value) {
        let issuer = &self.issuer;
        let mut state = self.state.lock().unwrap();
        match path {
            "/.well-known/openid-configuration" => (
                200,
                json!({
                    "issuer": issuer,
                    "authorization_endpoint": format!("{issuer}/authorize"),
                    "token_endpoint": format!("{issuer}/token"),
                    "userinfo_endpoint": format!("{issuer}/me"),
                    "jwks_uri": format!("{issuer}/keys"),
                    "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["EdDSA", "HS256", "none"],
                }),
            ),
            "/keys" => {
                let x = URL_SAFE_NO_PAD.encode(state.key.public_key_raw());
                let key = json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": state.key_id, "x": x });
                (200, json!({ "keys": [key] }))
            }
            "/token" => {
                let form = decoded(body);
                let has_secret = head.lines().any(|line| {
                    let line = line.to_ascii_lowercase();
                    line.starts_with("authorization: basic ")
                });
                let is_proved = form.get("code_verifier").is_some_and(|it| it.len() >= 43);
                let found = state.codes.remove(form.get("code").map_or("", String::as_str));
                let Some((nonce, person)) = found.filter(|_| has_secret && is_proved) else {
                    return (400, json!({ "error": "invalid_grant" }));
                };
                state.info = person.info.clone().unwrap_or(Value::Null);
                let token = token(issuer, &state, &nonce, &person);
                (
                    200,
                    json!({ "access_token": "the access token", "token_type": "Bearer", "id_token": token }),
                )
            }
            "/me" => (200, state.info.clone()),
            _ => (404, json!({})),
        }
    }
}

fn token(issuer: &str, state: &State, nonce: &str, person: &Person) -> String {
    let mut claims =
        json!({ "iss": issuer, "aud": CLIENT, "iat": 1_700_000_000, "exp": FAR, "nonce": nonce });
    for (name, value) in person.claims.as_object().unwrap() {
        claims[name] = value.clone();
    }
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = match person.signature {
        Signature::None => json!({ "alg": "none" }),
        _ => json!({ "alg": "EdDSA", "kid": state.key_id }),
    };
    let mut signed = format!("{}.{}", part(&header), part(&claims));
    let other = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let signature = match person.signature {
        Signature::None => Vec::new(),
        Signature::OtherKey => other.sign(signed.as_bytes()).unwrap(),
        Signature::Right | Signature::OfOtherClaims => state.key.sign(signed.as_bytes()).unwrap(),
    };
    if person.signature == Signature::OfOtherClaims {
        claims["email"] = json!("first@example.com");
        claims["sub"] = json!("somebody else");
        signed = format!("{}.{}", part(&header), part(&claims));
    }
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}
