//! The pages on a small HTTP server, for looking and translating: `/STATE.LANGUAGE`, and an index at `/`.
//!
//! A page comes with the header fields that visitors get, so that its Content-Security-Policy counts. Below it stand links to
//! other states and languages; with `?alone` it is the page alone, byte for byte.

use std::convert::Infallible;
use std::error::Error;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, LOCATION, REFERER, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use minijinja::HtmlEscape;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::app::signals::Signals;
use crate::cli::output::say;
use crate::pages::{Language, Pages, preview};

/// The pages to show.
pub struct Gallery {
    pub pages: Pages,
    /// Names of all states.
    pub states: Vec<&'static str>,
}

/// Serves the pages until a signal.
pub fn run(address: SocketAddr, gallery: Gallery) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let mut signals = Signals::catch()?;
    let listener = runtime.block_on(TcpListener::bind(address));
    let listener = listener.map_err(|error| format!("{address} cannot be used ({error}): --serve takes another"))?;
    let tags: Vec<&str> = gallery.pages.languages().tags().collect();
    say(&format!(
        "http://{}/ shows {} pages, each in {}; Ctrl-C ends\n",
        listener.local_addr()?,
        gallery.states.len(),
        tags.join(", ")
    ));
    let closing = CancellationToken::new();
    let serving = runtime.spawn(accept(listener, Arc::new(gallery), closing.clone()));
    signals.wait();
    signals.end_at_once();
    closing.cancel();
    runtime.block_on(serving)?;
    Ok(())
}

/// Accepts until `closing`, then lets requests in flight finish for [`DRAIN`].
async fn accept(listener: TcpListener, gallery: Arc<Gallery>, closing: CancellationToken) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = closing.cancelled() => break,
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok((socket, _peer)) => {
                    connections.spawn(connection(socket, Arc::clone(&gallery), closing.clone()));
                }
                // Out of descriptors, or the peer was gone already: neither is for ever.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
            Some(_ended) = connections.join_next() => {}
        }
    }
    drop(listener);
    let drained = async { while connections.join_next().await.is_some() {} };
    let _late = tokio::time::timeout(DRAIN, drained).await;
}

async fn connection(socket: TcpStream, gallery: Arc<Gallery>, closing: CancellationToken) {
    let answer = service_fn(|request: Request<Incoming>| {
        let answer = gallery.answer(request.uri(), request.headers());
        async { Ok::<_, Infallible>(answer) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .serve_connection(TokioIo::new(socket), answer);
    tokio::pin!(connection);
    tokio::select! {
        _outcome = connection.as_mut() => return,
        () = closing.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _outcome = connection.await;
}

/// Connections at once; a browser has six.
const MAX_CONNECTIONS: usize = 64;

/// How long a connection may be idle, or take for a request's head.
const IDLE: Duration = Duration::from_secs(75);

/// Time for requests in flight at the end.
const DRAIN: Duration = Duration::from_secs(2);

impl Gallery {
    fn answer(&self, uri: &Uri, headers: &HeaderMap) -> Response<Full<Bytes>> {
        if uri.path() == "/" {
            return html(self.index());
        }
        if let Some((state, language)) = self.named(uri.path())
            && let Some(page) = preview(&self.pages, state, language)
        {
            let body = match uri.query() {
                Some("alone") => page.body,
                _ => Bytes::from([&page.body[..], self.links(state, language).as_bytes()].concat()),
            };
            let mut response = Response::new(Full::new(body));
            *response.headers_mut() = page.headers;
            return response;
        }
        self.elsewhere(headers)
    }

    /// The state and the language of `/STATE.LANGUAGE`.
    fn named(&self, path: &str) -> Option<(&'static str, Language)> {
        let (state, tag) = path.strip_prefix('/')?.rsplit_once('.')?;
        let state = self.states.iter().copied().find(|known| *known == state)?;
        let language = self.pages.languages().find(tag)?;
        Some((state, language))
    }

    /// A link or a form of the page leads back to it. Its script is told to ask later, which changes nothing on the page.
    fn elsewhere(&self, headers: &HeaderMap) -> Response<Full<Bytes>> {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let mut response = Response::new(Full::default());
        if text(ACCEPT).is_none_or(|accept| !accept.contains("text/html")) {
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            let later = HeaderValue::from_static("120");
            response.headers_mut().insert(RETRY_AFTER, later);
            return response;
        }
        let from = text(REFERER).and_then(|from| from.parse::<Uri>().ok());
        let from = from.filter(|from| self.named(from.path()).is_some());
        let back = from.and_then(|from| HeaderValue::from_str(from.path()).ok());
        *response.status_mut() = StatusCode::SEE_OTHER;
        let back = back.unwrap_or(HeaderValue::from_static("/"));
        response.headers_mut().insert(LOCATION, back);
        response
    }

    /// A row for each state, with a link for each language.
    fn index(&self) -> String {
        let mut page = String::from(
            "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
             <title>Pages</title><h1>Pages</h1><ul>",
        );
        for state in &self.states {
            let _ = write!(page, "<li>{state}:");
            for language in self.pages.languages().all() {
                let _ = write!(page, " {}", self.link(state, language));
            }
        }
        page + "</ul>"
    }

    /// The states before and after, the other languages, and the page alone. Without a style, which the page's policy blocks.
    fn links(&self, state: &str, language: Language) -> String {
        let (count, tag) = (self.states.len(), self.pages.languages().tag(language));
        let at = self.states.iter().position(|known| *known == state).unwrap_or_default();
        let [before, after] = [count - 1, 1].map(|step| self.states[(at + step) % count]);
        let mut links = format!(
            "\n<nav lang=en dir=ltr aria-label=Preview><a href=\"/\">All pages</a> · <a href=\"/{before}.{tag}\">← {before}</a> · \
             <b>{state}</b> · <a href=\"/{after}.{tag}\">{after} →</a> · <a href=\"/{state}.{tag}?alone\">alone</a> ·"
        );
        for other in self.pages.languages().all() {
            let _ = write!(links, " {}", self.link(state, other));
        }
        links + "</nav>"
    }

    /// A state in a language, by the language's own name, which may be an operator's text.
    fn link(&self, state: &str, language: Language) -> String {
        let languages = self.pages.languages();
        let (tag, name) = (languages.tag(language), HtmlEscape(languages.name(language)));
        format!("<a href=\"/{state}.{tag}\" hreflang={tag} lang={tag}><bdi>{name}</bdi></a>")
    }
}

fn html(page: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(page)));
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::pages::states;

    fn gallery() -> Gallery {
        Gallery {
            pages: Pages::new(None).unwrap(),
            states: states(),
        }
    }

    async fn text(response: Response<Full<Bytes>>) -> String {
        let body = response.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(body.into()).unwrap()
    }

    #[tokio::test]
    async fn the_index_leads_to_every_page_and_each_page_to_the_others() {
        let gallery = gallery();
        let get = |path: &str| gallery.answer(&path.parse().unwrap(), &HeaderMap::new());
        let index = text(get("/")).await;
        let links: Vec<&str> = index
            .split("href=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap())
            .collect();
        assert_eq!(
            links.len(),
            gallery.states.len() * gallery.pages.languages().all().count()
        );
        for link in links {
            let response = get(link);
            assert_eq!(response.status(), StatusCode::OK, "{link}");
            assert!(response.headers().contains_key("content-security-policy"), "{link}");
            let page = text(response).await;
            let (_, nav) = page.rsplit_once("<nav").expect(link);
            for target in nav.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
                assert_eq!(get(target).status(), StatusCode::OK, "{link} leads to {target}");
            }
        }
    }

    #[tokio::test]
    async fn alone_a_page_is_what_visitors_get() {
        let gallery = gallery();
        let korean = gallery.pages.languages().find("ko").unwrap();
        let page = preview(&gallery.pages, "waiting", korean).unwrap();
        let answer = gallery.answer(&"/waiting.ko?alone".parse().unwrap(), &HeaderMap::new());
        assert_eq!(*answer.headers(), page.headers);
        assert_eq!(text(answer).await.as_bytes(), page.body);
    }

    #[test]
    fn links_of_a_page_lead_back_to_it_and_its_script_asks_later() {
        let gallery = gallery();
        let mut headers = HeaderMap::new();
        let at = "/.ropeline/rooms/shop/status".parse().unwrap();
        let answer = gallery.answer(&at, &headers);
        assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(answer.headers()[RETRY_AFTER], "120");
        headers.insert(ACCEPT, HeaderValue::from_static("text/html,*/*"));
        for (from, back) in [
            ("http://127.0.0.1:9926/early.ko?alone", "/early.ko"),
            ("http://127.0.0.1:9926/nothing.ko", "/"),
            ("https://evil.example/x", "/"),
        ] {
            headers.insert(REFERER, HeaderValue::from_static(from));
            let answer = gallery.answer(&at, &headers);
            assert_eq!(answer.status(), StatusCode::SEE_OTHER);
            assert_eq!(answer.headers()[LOCATION], back);
        }
    }
}
