//! Recognises people by the operator's OpenID Connect provider: authorization code flow with PKCE, state and nonce.
//!
//! The provider is the operator's choice, so the guard does not judge its addresses. It may hang or answer nonsense: each request
//! has a deadline and a limit of bytes, and after a failure it is not asked again for a while.

use super::client::Client;
use super::header_case::HeaderCase;
use super::outgoing::{Log, Outgoing};
use super::sent::SendError;
use bytes::Bytes;
use garson_core::platform::Trust;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use openidconnect::core::{
    CoreAuthPrompt, CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreJwsSigningAlgorithm,
    CoreProviderMetadata, CoreUserInfoClaims,
};
use openidconnect::{
    AccessTokenHash, AsyncHttpClient, AuthType, AuthorizationCode, ClaimsVerificationError, ClientId,
    ClientSecret, CsrfToken, EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest, HttpResponse,
    IssuerUrl, Nonce, OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope,
    SignatureVerificationError, TokenResponse as _,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use url::{Host, Url};

/// For one request to the provider.
const DEADLINE: Duration = Duration::from_secs(10);
/// The most that is read of an answer; keys of large providers take some 20 kB.
const MAX_ANSWER: usize = 512 * 1024;
/// As the specification limits it.
const MAX_SUBJECT: usize = 255;
/// Characters of an error of the provider that are logged.
const MAX_REASON: usize = 300;
/// How long the provider's addresses and keys are kept.
const METADATA_LASTS: Duration = Duration::from_secs(60 * 60);
/// After a failure the provider is not asked for them again for this time.
const FAILURE_LASTS: Duration = Duration::from_secs(5);
/// An unknown key is looked for again at most so often.
const BETWEEN_KEY_READS: Duration = Duration::from_secs(30);
/// Signatures that anybody who knows the client's secret could make are not among them.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

type ProviderClient = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// The operator's settings.
#[derive(Clone, Debug)]
pub struct OpenIdSettings {
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Option<Secret<String>>,
    /// Where the provider sends people back to.
    pub redirect: String,
    /// What the button is called.
    pub label: String,
    /// E-mail addresses count as verified even if the provider does not say so.
    pub trusts_email: bool,
}

/// The operator's provider.
pub struct OpenIdProvider {
    issuer: IssuerUrl,
    client_id: ClientId,
    client_secret: Option<ClientSecret>,
    redirect: RedirectUrl,
    pub label: String,
    trusts_email: bool,
    caller: Caller,
    cached: Mutex<Cached>,
    /// Held while the provider is asked.
    reading: tokio::sync::Mutex<()>,
}

/// What was last read of the provider.
#[derive(Default)]
struct Cached {
    read: Option<(Arc<CoreProviderMetadata>, Instant)>,
    failed: Option<(OpenIdError, Instant)>,
    /// When an unknown key was last looked for.
    looked_for_key: Option<Instant>,
}

/// Belongs to one attempt, and is kept by the browser, sealed.
#[derive(Serialize, Deserialize)]
pub struct Attempt {
    pub state: String,
    nonce: String,
    verifier: String,
}

/// What the provider says about a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub issuer: String,
    pub subject: String,
    /// In lower case; only if it is verified.
    pub email: Option<String>,
    /// When the person gave the provider a password or the like, if it says so.
    pub authenticated_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenIdError {
    /// The provider cannot be reached, or its answer cannot be understood.
    Unavailable(String),
    /// The provider, or the check of what it says, refuses the person.
    Refused(String),
}

impl fmt::Display for OpenIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(why) | Self::Refused(why) => f.write_str(why),
        }
    }
}

impl OpenIdProvider {
    /// The error says which setting is wrong.
    pub fn new(settings: OpenIdSettings, net: Client) -> Result<Self, &'static str> {
        let secret = settings.client_secret;
        Ok(Self {
            issuer: IssuerUrl::new(settings.issuer).map_err(|_| "openid.issuer")?,
            client_id: ClientId::new(settings.client_id),
            client_secret: secret.map(|secret| ClientSecret::new(secret.expose().clone())),
            redirect: RedirectUrl::new(settings.redirect).map_err(|_| "public_url")?,
            label: settings.label,
            trusts_email: settings.trusts_email,
            caller: Caller(net),
            cached: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
        })
    }

    /// The provider's address to send a person to. `again`: the provider is to ask for the password or the like even if the person
    /// is signed in there.
    pub async fn start(self: &Arc<Self>, again: bool) -> Result<(String, Attempt), OpenIdError> {
        let client = self.client(&*self.metadata().await?);
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let mut request = client
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                CsrfToken::new_random,
                Nonce::new_random,
            )
            .add_scope(Scope::new("email".to_owned()))
            .set_pkce_challenge(challenge);
        if again {
            request = request
                .add_prompt(CoreAuthPrompt::Login)
                .set_max_age(Duration::ZERO);
        }
        let (url, state, nonce) = request.url();
        let attempt = Attempt {
            state: state.into_secret(),
            nonce: nonce.secret().clone(),
            verifier: verifier.into_secret(),
        };
        Ok((url.into(), attempt))
    }

    /// Exchanges the code that the person brings back for the identity.
    pub async fn finish(self: &Arc<Self>, attempt: &Attempt, code: &str) -> Result<Identity, OpenIdError> {
        let metadata = self.metadata().await?;
        let client = self.client(&metadata);
        let answer = client
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .map_err(|_| unavailable("the provider names no token endpoint"))?
            .set_pkce_verifier(PkceCodeVerifier::new(attempt.verifier.clone()))
            .request_async(&self.caller)
            .await
            .map_err(token_error)?;
        let token = answer
            .id_token()
            .ok_or_else(|| unavailable("the provider sent no ID token"))?;
        let nonce = Nonce::new(attempt.nonce.clone());
        let mut client = client;
        let mut claims = token.claims(&verifier(&client), &nonce);
        if is_unknown_key(claims.as_ref().err()) {
            client = self.client(&*self.metadata_with_new_keys(&metadata).await?);
            claims = token.claims(&verifier(&client), &nonce);
        }
        let claims = claims.map_err(|error| refused(claims_error(&error)))?;
        if let Some(expected) = claims.access_token_hash() {
            let algorithm = token.signing_alg().map_err(|error| refused(error.to_string()))?;
            let verifier = verifier(&client);
            let key = token
                .signing_key(&verifier)
                .map_err(|error| refused(error.to_string()))?;
            let actual = AccessTokenHash::from_token(answer.access_token(), algorithm, key)
                .map_err(|error| refused(error.to_string()))?;
            if actual != *expected {
                return Err(refused("the access token is another one than the ID token says"));
            }
        }
        if claims
            .authorized_party()
            .is_some_and(|party| *party != self.client_id)
        {
            return Err(refused("the ID token is refused: it was made for another client"));
        }
        let subject = claims.subject().to_string();
        let is_usable =
            (1..=MAX_SUBJECT).contains(&subject.len()) && subject.bytes().all(|b| (32..127).contains(&b));
        if !is_usable {
            return Err(refused(
                "the provider's id of the person is not 1 to 255 ASCII characters",
            ));
        }
        let mut email = self.verified(claims.email().map(|it| it.as_str()), claims.email_verified());
        if (claims.email().is_none() || claims.email_verified().is_none())
            && email.is_none()
            && let Ok(request) =
                client.user_info(answer.access_token().clone(), Some(claims.subject().clone()))
        {
            let info: Result<CoreUserInfoClaims, _> = request.request_async(&self.caller).await;
            match info {
                Ok(info) => email = self.verified(info.email().map(|it| it.as_str()), info.email_verified()),
                // A user who is connected already needs no address.
                Err(_) => tracing::warn!("the OpenID Connect provider does not answer who a person is"),
            }
        }
        Ok(Identity {
            issuer: claims.issuer().to_string(),
            subject,
            email,
            authenticated_at: claims
                .auth_time()
                .map(|at| Timestamp::from_millis(at.timestamp_millis())),
        })
    }

    fn verified(&self, email: Option<&str>, is_verified: Option<bool>) -> Option<String> {
        let is_verified = is_verified.unwrap_or(self.trusts_email);
        // Letters beyond ASCII could be folded into another address.
        email
            .filter(|email| is_verified && email.is_ascii())
            .map(str::to_ascii_lowercase)
    }

    fn client(&self, metadata: &CoreProviderMetadata) -> ProviderClient {
        let methods = metadata.token_endpoint_auth_methods_supported();
        let takes = |method| methods.is_none_or(|methods| methods.contains(&method));
        let auth_type = if takes(CoreClientAuthMethod::ClientSecretBasic) {
            AuthType::BasicAuth
        } else {
            AuthType::RequestBody
        };
        CoreClient::from_provider_metadata(
            metadata.clone(),
            self.client_id.clone(),
            self.client_secret.clone(),
        )
        .set_redirect_uri(self.redirect.clone())
        .set_auth_type(auth_type)
    }

    fn cached(&self) -> MutexGuard<'_, Cached> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The provider's addresses and keys. Old ones are used on while they are read again.
    async fn metadata(self: &Arc<Self>) -> Result<Arc<CoreProviderMetadata>, OpenIdError> {
        let found = self.cached().read.clone();
        let provider = Arc::clone(self);
        match found {
            Some((metadata, at)) if at.elapsed() < METADATA_LASTS => Ok(metadata),
            Some((old, _)) => {
                tokio::spawn(async move {
                    // Another task may be reading it.
                    if let Ok(_reading) = provider.reading.try_lock() {
                        let _ = provider.read_metadata().await;
                    }
                });
                Ok(old)
            }
            None => {
                in_background(async move {
                    let _reading = provider.reading.lock().await;
                    let found = provider.cached().read.clone();
                    match found {
                        Some((metadata, _)) => Ok(metadata),
                        None => provider.read_metadata().await,
                    }
                })
                .await
            }
        }
    }

    /// The same with keys that are newer than these: the provider has begun to sign with another one.
    async fn metadata_with_new_keys(
        self: &Arc<Self>,
        known: &Arc<CoreProviderMetadata>,
    ) -> Result<Arc<CoreProviderMetadata>, OpenIdError> {
        let (provider, known) = (Arc::clone(self), Arc::clone(known));
        in_background(async move {
            let _reading = provider.reading.lock().await;
            {
                let mut cached = provider.cached();
                if let Some((metadata, _)) = &cached.read {
                    let has_looked = cached
                        .looked_for_key
                        .is_some_and(|at| at.elapsed() < BETWEEN_KEY_READS);
                    if has_looked || !Arc::ptr_eq(metadata, &known) {
                        return Ok(Arc::clone(metadata));
                    }
                }
                cached.looked_for_key = Some(Instant::now());
            }
            provider.read_metadata().await
        })
        .await
    }

    /// Asks the provider, unless it has just failed.
    async fn read_metadata(&self) -> Result<Arc<CoreProviderMetadata>, OpenIdError> {
        let failed = self.cached().failed.clone();
        if let Some((error, at)) = failed
            && at.elapsed() < FAILURE_LASTS
        {
            return Err(error);
        }
        let read = CoreProviderMetadata::discover_async(self.issuer.clone(), &self.caller).await;
        let read = read
            .map_err(|error| unavailable(with_cause(&error)))
            .and_then(|metadata| match insecure_endpoint(&metadata) {
                Some(name) => Err(unavailable(format!("the provider's {name} is not https"))),
                None => Ok(metadata),
            });
        match read {
            Ok(metadata) => {
                let metadata = Arc::new(metadata);
                let mut cached = self.cached();
                cached.read = Some((Arc::clone(&metadata), Instant::now()));
                cached.failed = None;
                Ok(metadata)
            }
            Err(error) => {
                tracing::warn!(%error, "the OpenID Connect provider cannot be used");
                self.cached().failed = Some((error.clone(), Instant::now()));
                Err(error)
            }
        }
    }
}

/// Goes on when the visitor goes away, so that others do not have to begin again.
async fn in_background<T: Send + 'static>(
    work: impl Future<Output = Result<T, OpenIdError>> + Send + 'static,
) -> Result<T, OpenIdError> {
    let done = tokio::spawn(work).await;
    done.unwrap_or_else(|_| Err(unavailable("reading the provider's metadata has failed")))
}

/// The endpoint to which secrets or codes would travel in clear text.
fn insecure_endpoint(metadata: &CoreProviderMetadata) -> Option<&'static str> {
    let endpoints = [
        (
            "authorization_endpoint",
            Some(metadata.authorization_endpoint().url()),
        ),
        ("token_endpoint", metadata.token_endpoint().map(|it| it.url())),
        ("jwks_uri", Some(metadata.jwks_uri().url())),
        (
            "userinfo_endpoint",
            metadata.userinfo_endpoint().map(|it| it.url()),
        ),
    ];
    let is_insecure = |url: &Url| url.scheme() != "https" && !is_on_this_machine(url);
    endpoints
        .into_iter()
        .find_map(|(name, url)| url.filter(|url| is_insecure(url)).map(|_| name))
}

/// Only such addresses may be used without TLS.
#[must_use]
pub fn is_on_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// Sends the requests of the library.
struct Caller(Client);

impl AsyncHttpClient<'_> for Caller {
    type Error = SendError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, SendError>> + Send>>;

    fn call(&self, request: HttpRequest) -> Self::Future {
        let (parts, body) = request.into_parts();
        let outgoing = Outgoing {
            method: parts.method,
            url: parts.uri.to_string(),
            headers: parts.headers,
            header_case: HeaderCase::default(),
            body: Bytes::from(body),
            trust: Trust::Operator,
            deadline: DEADLINE,
            keep_body: MAX_ANSWER,
            log: Log::Failures,
            may_repeat: false,
        };
        let client = self.0.clone();
        Box::pin(async move {
            let answer = client.send(outgoing).await?;
            let mut response = HttpResponse::new(answer.body);
            *response.status_mut() = http::StatusCode::from_u16(answer.status).unwrap_or_default();
            *response.headers_mut() = answer.headers;
            Ok(response)
        })
    }
}

fn unavailable(why: impl Into<String>) -> OpenIdError {
    OpenIdError::Unavailable(why.into())
}

fn refused(why: impl Into<String>) -> OpenIdError {
    OpenIdError::Refused(why.into())
}

fn verifier(client: &ProviderClient) -> openidconnect::core::CoreIdTokenVerifier<'_> {
    client.id_token_verifier().set_allowed_algs(ALGORITHMS)
}

fn is_unknown_key(error: Option<&ClaimsVerificationError>) -> bool {
    matches!(
        error,
        Some(ClaimsVerificationError::SignatureVerification(
            SignatureVerificationError::NoMatchingKey
        ))
    )
}

/// What is wrong with a token, without anything that it says.
fn claims_error(error: &ClaimsVerificationError) -> String {
    let what = match error {
        ClaimsVerificationError::Expired(_) => "it has expired",
        ClaimsVerificationError::InvalidAudience(_) => "it is for another client",
        ClaimsVerificationError::InvalidIssuer(_) => "it is another issuer's",
        ClaimsVerificationError::InvalidNonce(_) => "it belongs to another attempt",
        ClaimsVerificationError::SignatureVerification(_) => "its signature is wrong",
        _ => "it cannot be used",
    };
    format!("the ID token is refused: {what}")
}

fn token_error<T: std::error::Error + 'static>(
    error: openidconnect::RequestTokenError<
        T,
        openidconnect::StandardErrorResponse<openidconnect::core::CoreErrorResponseType>,
    >,
) -> OpenIdError {
    use openidconnect::RequestTokenError as E;
    match error {
        E::ServerResponse(said) => refused(format!(
            "the provider refuses the code: {}",
            plain(said.error().as_ref())
        )),
        E::Request(error) => unavailable(error.to_string()),
        E::Parse(..) | E::Other(_) => unavailable("the provider's answer to the code is not understood"),
    }
}

fn with_cause(error: &dyn std::error::Error) -> String {
    plain(&match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    })
}

/// What a provider may have written, in one short line.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MAX_REASON)
        .collect()
}
