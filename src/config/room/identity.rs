//! The source of a room's accounts.

use std::sync::Arc;

use http::{HeaderName, Method};

use crate::accounts::{Algorithm, KeyFault, PublicKeys, Verifier};
use crate::config::document::value::{bytes_of, one_of, text, wrong};
use crate::config::document::{Node, Read, Section};
use crate::config::keys::Form;
use crate::names;
use crate::proxy::is_taken;
use crate::router::Route;

/// How a room knows accounts.
#[derive(Clone, Debug, PartialEq)]
pub struct Identities {
    pub source: Source,
    pub missing: Missing,
    /// A path of the shop where visitors sign in.
    pub sign_in: Option<String>,
    /// The claim of the same token that names its account's lane.
    pub lane_claim: Option<String>,
}

/// The one place in a request that names the account.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A field that a trusted proxy sets, and that no other peer may bring.
    Header(HeaderName),
    /// A cookie's value, as it stands.
    Cookie(String),
    /// A claim of a signed token, in the cookie of that name or as `Authorization: Bearer`.
    Jwt {
        cookie: Option<String>,
        verifier: Arc<Verifier>,
    },
    /// A field of one form or JSON object.
    Field { name: String, on: Route },
}

/// The treatment of a visitor without an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// They join as visitors without an account.
    Join,
    /// They have to sign in first.
    Refuse,
}

impl Identities {
    /// The field of a trusted proxy's own.
    #[must_use]
    pub fn header(&self) -> Option<&HeaderName> {
        match &self.source {
            Source::Header(name) => Some(name),
            _ => None,
        }
    }

    /// A ticket or pass of an account counts only in requests that name the account. A form names it once, at the join; and a
    /// browser's navigation has no `Authorization`, so those are held to it only where the room requires an account to join.
    #[must_use]
    pub fn binds(&self) -> bool {
        match &self.source {
            Source::Header(_) | Source::Cookie(_) | Source::Jwt { cookie: Some(_), .. } => true,
            Source::Jwt { cookie: None, .. } => self.missing == Missing::Refuse,
            Source::Field { .. } => false,
        }
    }

    /// The request whose body names the account.
    #[must_use]
    pub fn form(&self) -> Option<&Route> {
        match &self.source {
            Source::Field { on, .. } => Some(on),
            _ => None,
        }
    }

    /// The verifier of signed tokens, to read another of their claims.
    #[must_use]
    pub fn verifier(&self) -> Option<&Verifier> {
        match &self.source {
            Source::Jwt { verifier, .. } => Some(verifier),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Header,
    Cookie,
    Jwt,
    Field,
}

/// Keys that only some sources have.
const OF: [(&str, &[From]); 9] = [
    ("name", &[From::Header, From::Cookie, From::Jwt, From::Field]),
    ("on", &[From::Field]),
    ("key_file", &[From::Jwt]),
    ("algorithm", &[From::Jwt]),
    ("claim", &[From::Jwt]),
    ("issuer", &[From::Jwt]),
    ("audience", &[From::Jwt]),
    ("leeway", &[From::Jwt]),
    ("lane_claim", &[From::Jwt]),
];

fn words_of(sources: &[From]) -> &'static str {
    match sources {
        [From::Field] => "\"field\"",
        [From::Jwt] => "\"jwt\"",
        _ => "any",
    }
}

pub(in crate::config) fn identities(section: &Section<'_>) -> Option<Identities> {
    let words = [
        ("header", From::Header),
        ("cookie", From::Cookie),
        ("jwt", From::Jwt),
        ("field", From::Field),
    ];
    let from = section.get_as("from", |node, form| one_of(node, form, &words));
    let missing = section.get_as("missing", |node, form| {
        one_of(node, form, &[("join", Missing::Join), ("refuse", Missing::Refuse)])
    });
    let sign_in = section.get_as("sign_in", path);
    let strange = OF.iter().filter(|(key, _)| !section.is_default(key));
    for (key, sources) in strange.filter(|(_, sources)| from.is_some_and(|from| !sources.contains(&from))) {
        let right = format!("no {key}, or another from: {}", words_of(sources));
        section.warning(key, "the source of accounts that from names does not have it", right);
    }
    let Some(from) = from else {
        let others = ["missing", "sign_in"].into_iter();
        let lone = OF
            .iter()
            .map(|(key, _)| *key)
            .chain(others)
            .find(|key| section.is_set(key));
        if let Some(key) = lone.filter(|_| !section.has_mistake("from")) {
            section.mistake(
                key,
                "there are no accounts without from",
                "from = \"header\", \"cookie\", \"jwt\" or \"field\"",
            );
        }
        return None;
    };
    let source = match from {
        From::Header => Source::Header(named(section, header, "the header, such as \"X-User\"")?),
        From::Cookie => Source::Cookie(named(section, cookie, "the cookie, such as \"session\"")?),
        From::Jwt => jwt(section)?,
        From::Field => field(section)?,
    };
    if from == From::Cookie {
        let wrong = "a cookie's value proves no account: a visitor who invents one gets another place, and a shop that gives a new \
                     value at sign-in gives a new place with it";
        section.warning("from", wrong, "\"jwt\" or \"header\", where the shop has either");
    }
    Some(Identities {
        source,
        missing: missing.unwrap_or(Missing::Join),
        sign_in,
        lane_claim: section.get_as("lane_claim", plain).filter(|_| from == From::Jwt),
    })
}

fn named<T>(section: &Section<'_>, read: fn(&Node<'_>, &Form) -> Read<T>, right: &str) -> Option<T> {
    if !section.is_set("name") {
        section.mistake("name", "this must be set", right);
    }
    section.get_as("name", read)
}

fn jwt(section: &Section<'_>) -> Option<Source> {
    let cookie = section.get_as("name", cookie);
    let algorithms = [("EdDSA", Algorithm::EdDsa), ("RS256", Algorithm::Rs256)];
    let algorithm = section.get_as("algorithm", |node, form| one_of(node, form, &algorithms));
    for key in ["algorithm", "key_file"] {
        if !section.is_set(key) {
            section.mistake(
                key,
                "this must be set",
                "algorithm = \"EdDSA\" or \"RS256\", and key_file",
            );
        }
    }
    let claim = section.get_as("claim", plain).unwrap_or_else(|| "sub".to_owned());
    let (issuer, audience) = (section.get_as("issuer", plain), section.get_as("audience", plain));
    let leeway_ms: u64 = section.get("leeway").unwrap_or(0);
    let algorithm = algorithm?;
    let keys = section.get_as("key_file", |node, form| public_keys(section, node, form, algorithm))?;
    let verifier = Verifier {
        keys,
        claim,
        issuer,
        audience,
        leeway_secs: leeway_ms / 1_000,
    };
    let verifier = Arc::new(verifier);
    Some(Source::Jwt { cookie, verifier })
}

fn field(section: &Section<'_>) -> Option<Source> {
    if !section.is_set("on") {
        section.mistake("on", "this must be set", section.form("on"));
    }
    let name = named(section, plain, "the field, such as \"email\"");
    let on = section.get_as("on", post);
    Some(Source::Field { name: name?, on: on? })
}

fn header(node: &Node<'_>, _: &Form) -> Read<HeaderName> {
    let right = "a header's name, such as \"X-User\"";
    let text = text(node, right)?;
    let name = HeaderName::try_from(text).ok();
    // A name with another sign than a dash is an alias of one without, and taken out.
    let name = name.filter(|name| names::field::is_plain(name.as_str()) && !is_taken(name));
    name.map_or_else(
        || wrong(node, format!("\"{text}\" cannot say who somebody is"), right),
        Ok,
    )
}

fn cookie(node: &Node<'_>, _: &Form) -> Read<String> {
    let right = "a cookie's name, such as \"session\"";
    let text = text(node, right)?;
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&byte);
    if text.is_empty() || text.len() > 100 || !text.bytes().all(plain) || text.contains("ropeline-") {
        return wrong(node, format!("\"{text}\" is no name of a shop's cookie"), right);
    }
    Ok(text.to_owned())
}

pub(in crate::config) fn plain(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    if !(1..=200).contains(&text.len()) || text.chars().any(char::is_control) {
        return wrong(node, "this is empty, too long or has control characters", form);
    }
    Ok(text.to_owned())
}

fn path(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    let own = crate::pages::path_on_this_host(text) == text && text.starts_with('/');
    if !own || text.len() > 1_000 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return wrong(node, format!("\"{text}\" is no path"), form);
    }
    Ok(text.to_owned())
}

fn post(node: &Node<'_>, form: &Form) -> Read<Route> {
    let text = text(node, form)?;
    let route = text
        .split_once(' ')
        .filter(|(method, _)| *method == Method::POST.as_str());
    match Route::parse(text) {
        Ok(route_) if route.is_some() => Ok(route_),
        Ok(_) => wrong(node, "the form must be sent by POST", form),
        Err(error) => wrong(node, error.to_string(), form),
    }
}

fn public_keys(section: &Section<'_>, node: &Node<'_>, form: &Form, algorithm: Algorithm) -> Read<PublicKeys> {
    let path = section.file(node, form)?;
    let shown = path.display();
    let pem = match bytes_of(&path, MAX_PEM) {
        Ok(pem) => pem,
        Err(error) => return wrong(node, format!("{shown} cannot be read ({error})"), form),
    };
    let keys = if pem.len() as u64 > MAX_PEM {
        Err(KeyFault::NoKey)
    } else {
        PublicKeys::read(algorithm, &pem)
    };
    keys.or_else(|fault| wrong(node, format!("{shown}: {fault}"), form))
}

/// Longest file of a key; more than that is some other file.
const MAX_PEM: u64 = 64 * 1024;
