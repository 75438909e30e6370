//! The dashboard's files, built from `ui/` and carried in the binary.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderName, StatusCode, Uri, header};

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
pub async fn file(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    match Files::get(path) {
        Some(file) => {
            let kind = [(header::CONTENT_TYPE, kind(path))];
            (HEADERS, kind, file.data).into_response()
        }
        None if path == "index.html" => {
            let missing = "This build carries no dashboard. Build it with `npm start`.\n";
            (StatusCode::NOT_FOUND, HEADERS, missing).into_response()
        }
        None => (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, "application/json")], "{}")
            .into_response(),
    }
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
