//! The dashboard's files, built from `ui/` and embedded in the binary.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderName, Method, StatusCode, Uri, header};

use evermoor_core::api::ErrorBody;
use evermoor_core::failure::{Code, Failure};

#[derive(rust_embed::Embed)]
#[folder = "../../ui/dist"]
#[allow_missing = true]
struct DashboardFiles;

/// Allows only the dashboard's own files and origin: no inline code and no frames.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types svelte-trusted-html";
const HEADERS: [(HeaderName, &str); 3] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
];

/// Serves one file of the dashboard; `/` is its page.
pub async fn file(method: Method, uri: Uri) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        return nothing();
    }
    let path = match uri.path() {
        "/" => "index.html",
        path => path.strip_prefix('/').unwrap_or(path),
    };
    match DashboardFiles::get(path) {
        Some(file) => {
            let kind = [(header::CONTENT_TYPE, kind(path))];
            (HEADERS, kind, file.data).into_response()
        }
        None if path == "index.html" => {
            let missing = "This build has no dashboard. Build it with `npm start`.\n";
            (StatusCode::NOT_FOUND, HEADERS, missing).into_response()
        }
        None => nothing(),
    }
}

/// Answers 404 with a JSON error. MCP clients look for OAuth metadata at unknown paths, and would
/// take an HTML page for it.
fn nothing() -> Response {
    let what = "There is nothing at this URL.";
    let error = Failure::new(Code::NotFound, what, "Editors use /mcp, with a bearer token.");
    (StatusCode::NOT_FOUND, axum::Json(ErrorBody { error })).into_response()
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
