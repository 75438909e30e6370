//! The dashboard's files, built from `ui/` and carried in the binary.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderName, Method, StatusCode, Uri, header};

use evermoor_core::api::Refusal;
use evermoor_core::failure::{Code, Failure};

#[derive(rust_embed::Embed)]
#[folder = "../../ui/dist"]
#[allow_missing = true]
struct Files;

/// Nothing but our own files: no inline code, no frames, no other place to speak to.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types svelte-trusted-html";
const HEADERS: [(HeaderName, &str); 3] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
];

/// One file of the dashboard; `/` is its page.
pub async fn file(method: Method, uri: Uri) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        return nothing();
    }
    let path = match uri.path() {
        "/" => "index.html",
        path => path.strip_prefix('/').unwrap_or(path),
    };
    match Files::get(path) {
        Some(file) => {
            let kind = [(header::CONTENT_TYPE, kind(path))];
            (HEADERS, kind, file.data).into_response()
        }
        None if path == "index.html" => {
            let missing = "This build carries no dashboard. Build it with `npm start`.\n";
            (StatusCode::NOT_FOUND, HEADERS, missing).into_response()
        }
        None => nothing(),
    }
}

/// There is nothing here, said in JSON: clients look for ways to sign in at addresses of this kind,
/// and take what they find there for an answer.
fn nothing() -> Response {
    let what = "There is nothing at this address.";
    let error = Failure::new(Code::NotFound, what, "Editors use /mcp, with a bearer token.");
    (StatusCode::NOT_FOUND, axum::Json(Refusal { error })).into_response()
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        _ => "application/octet-stream",
    }
}
