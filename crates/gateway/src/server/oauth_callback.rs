//! `/oauth/callback`: where the browser comes back to after a sign-in to a server, and the page
//! that it shows then.
//!
//! The browser has no token of Evermoor. The state in the address names the sign-in, works once and
//! cannot be guessed. Only a browser that shows the page to a user may open it: a script, a frame or
//! an image of a web page is refused.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};

use evermoor_core::security::foreign_text;

use super::control::ControlApi;
use crate::upstream::auth::sign_in::CALLBACK;

pub(crate) async fn answer(State(control): State<Arc<ControlApi>>, request: Request) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let address = format!("{}{CALLBACK}?{query}", control.here.origin);
    let ended = control.sign_ins.complete(&address).await;
    let (status, heading, text) =
        match (ended.server.as_ref().map(|server| &server.title), &ended.result) {
            (Some(title), Ok(())) => (
                StatusCode::OK,
                format!("You are signed in to {title}."),
                "Every editor can use it now. You can close this page.".to_owned(),
            ),
            (Some(title), Err(failure)) => (
                StatusCode::BAD_REQUEST,
                format!("You are not signed in to {title}."),
                failure.to_string(),
            ),
            (None, Ok(())) => (StatusCode::OK, "You are signed in.".to_owned(), String::new()),
            (None, Err(failure)) => (
                StatusCode::BAD_REQUEST,
                "This sign-in did not work.".to_owned(),
                failure.to_string(),
            ),
        };
    page(status, &heading, &text)
}

fn page(status: StatusCode, heading: &str, text: &str) -> Response {
    let (heading, text) = (escaped(heading), escaped(text));
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Evermoor</title>\n</head>\n\
         <body>\n<main>\n<h1>{heading}</h1>\n<p>{text}</p>\n</main>\n</body>\n</html>\n"
    );
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    (status, headers, html).into_response()
}

fn escaped(text: &str) -> String {
    let text = foreign_text::line(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_text_on_the_page() {
        assert_eq!(escaped("<img src=\"x\"> & more"), "&lt;img src=&quot;x&quot;&gt; &amp; more");
    }
}
