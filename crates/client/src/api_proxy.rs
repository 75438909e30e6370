//! Forwards the dashboard's requests to the control API, and to nothing else.
//!
//! The tray's window has no token, so its requests go through here. A request names a path under
//! `/api/` and goes to the running gateway. It cannot name another host or leave `/api/`.

use bytes::Bytes;
use http::{HeaderValue, Method, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use evermoor_core::api::ErrorBody;
use evermoor_core::failure::{Code, Failure};

use crate::control::{ControlClient, ControlError};

/// The gateway's response to a forwarded request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ControlResponse {
    pub status: u16,
    /// The parsed JSON, or a string if the body is something else.
    pub body: Value,
}

impl ControlClient {
    /// Forwards a request to the control API. An error status is a response, not an error.
    pub async fn forward(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<ControlResponse, ControlError> {
        let method = allowed(method).ok_or_else(|| forbidden(path))?;
        if !is_api_path(path) {
            return Err(forbidden(path));
        }
        let json = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = body.map(Value::to_string).unwrap_or_default();
        let answer = self.http().send(method, path, &[json], Bytes::from(body)).await?;
        if answer.is_event_stream() {
            let what = format!("{path} is an event stream and cannot be forwarded.");
            let failure = Failure::new(Code::Forbidden, what, "Please report this.");
            return Err(ControlError::Refused(failure));
        }
        let status = answer.status.as_u16();
        let bytes = answer.bytes().await?;
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
        Ok(ControlResponse { status, body })
    }

    /// Posts to a path of the control API.
    pub async fn post(&self, path: &str, body: Option<&Value>) -> Result<Value, ControlError> {
        let answer = self.forward("POST", path, body).await?;
        answer.into_value()
    }

    /// Reads a path of the control API.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ControlError> {
        let answer = self.forward("GET", path, None).await?.into_value()?;
        serde_json::from_value(answer).map_err(|_| ControlError::Unreadable)
    }
}

impl ControlResponse {
    fn into_value(self) -> Result<Value, ControlError> {
        if (200..300).contains(&self.status) {
            return Ok(self.body);
        }
        let refusal: Option<ErrorBody> = serde_json::from_value(self.body).ok();
        Err(refusal
            .map_or(ControlError::Unreadable, |refusal| ControlError::Refused(refusal.error)))
    }
}

fn allowed(method: &str) -> Option<Method> {
    [Method::GET, Method::POST, Method::PUT, Method::DELETE]
        .into_iter()
        .find(|known| known.as_str() == method)
}

/// Whether a path stays under `/api/`, even for a server that decodes or normalises it.
fn is_api_path(path: &str) -> bool {
    let without_query = path.split('?').next().unwrap_or_default();
    let plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#' && byte != b'\\');
    let is_name = |segment: &str| {
        let decoded = segment.to_ascii_lowercase().replace("%2e", ".");
        !matches!(decoded.as_str(), "" | "." | "..")
    };
    let normalised = without_query.split('/').skip(1).all(is_name);
    path.starts_with("/api/") && plain && normalised
}

fn forbidden(path: &str) -> ControlError {
    let what = format!("The dashboard may not use {path}.");
    ControlError::Refused(Failure::new(Code::Forbidden, what, "Please report this."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_control_api_are_forwarded() {
        for path in [
            "/api/status",
            "/api/upstreams/pieces/restart",
            "/api/activity?limit=50&upstream=my-files",
            "/api/incidents?format=markdown",
            "/api/upstreams/x/tools/a%20b",
            "/api/upstreams/x/tools/files%2Fread",
        ] {
            assert!(is_api_path(path), "{path}");
        }
    }

    #[test]
    fn other_paths_are_rejected() {
        for path in [
            "",
            "/",
            "/mcp",
            "/api",
            "/api/",
            "api/status",
            "/api/../mcp",
            "/api/%2E%2e/mcp",
            "/api/.%2E/mcp",
            "/api//status",
            "/api/./status",
            "/api\\..\\mcp",
            "@example.com/api/status",
            "//example.com/api/status",
            "http://example.com/api/status",
            "/api/status#x",
            "/api/status x",
            "/api/status\r\nX: y",
            "/api/stätus",
        ] {
            assert!(!is_api_path(path), "{path:?}");
        }
    }

    #[test]
    fn only_the_methods_of_the_control_api_are_allowed() {
        assert_eq!(allowed("PUT"), Some(Method::PUT));
        for method in ["CONNECT", "get", "", "TRACE"] {
            assert_eq!(allowed(method), None, "{method}");
        }
    }
}
