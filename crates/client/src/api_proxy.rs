//! Passing on what a dashboard asks of the control API, and nothing else.
//!
//! The window of the tray holds no token. What it asks goes through here: a route under `/api/`, as
//! it is written there, to the gateway that runs. Nothing names another host or another door.

use bytes::Bytes;
use http::{HeaderValue, Method, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use evermoor_core::api::ErrorBody;
use evermoor_core::failure::{Code, Failure};

use crate::control::{Control, ControlError};

/// What the gateway answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Passed {
    pub status: u16,
    /// JSON, or the text of anything else.
    pub body: Value,
}

impl Control {
    /// Asks for a route of the control API. A refusal by the gateway is an answer too.
    pub async fn pass_on(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Passed, ControlError> {
        let method = known(method).ok_or_else(|| not_ours(path))?;
        if !is_control(path) {
            return Err(not_ours(path));
        }
        let json = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = body.map(Value::to_string).unwrap_or_default();
        let answer = self.http().send(method, path, &[json], Bytes::from(body)).await?;
        if answer.is_event_stream() {
            let what = format!("The answer to {path} never ends.");
            let failure = Failure::new(Code::Forbidden, what, "Please report this.");
            return Err(ControlError::Refused(failure));
        }
        let status = answer.status.as_u16();
        let bytes = answer.bytes().await?;
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
        Ok(Passed { status, body })
    }
}

impl Control {
    /// Has something done by a route of the control API, or says why not.
    pub async fn order(&self, path: &str, body: Option<&Value>) -> Result<Value, ControlError> {
        let answer = self.pass_on("POST", path, body).await?;
        answer.into_value()
    }

    /// Reads a route of the control API.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ControlError> {
        let answer = self.pass_on("GET", path, None).await?.into_value()?;
        serde_json::from_value(answer).map_err(|_| ControlError::Unreadable)
    }
}

impl Passed {
    fn into_value(self) -> Result<Value, ControlError> {
        if (200..300).contains(&self.status) {
            return Ok(self.body);
        }
        let refusal: Option<ErrorBody> = serde_json::from_value(self.body).ok();
        Err(refusal
            .map_or(ControlError::Unreadable, |refusal| ControlError::Refused(refusal.error)))
    }
}

fn known(method: &str) -> Option<Method> {
    [Method::GET, Method::POST, Method::PUT, Method::DELETE]
        .into_iter()
        .find(|known| known.as_str() == method)
}

/// Whether a path leads to the control API as it is written, whoever reads it.
fn is_control(path: &str) -> bool {
    let way = path.split('?').next().unwrap_or_default();
    let plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#' && byte != b'\\');
    let leads_on = |part: &str| {
        let read = part.to_ascii_lowercase().replace("%2e", ".");
        !matches!(read.as_str(), "" | "." | "..")
    };
    let straight = way.split('/').skip(1).all(leads_on);
    path.starts_with("/api/") && plain && straight
}

fn not_ours(path: &str) -> ControlError {
    let what = format!("The dashboard may not ask for {path}.");
    ControlError::Refused(Failure::new(Code::Forbidden, what, "Please report this."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_of_the_control_api_are_passed_on() {
        for path in [
            "/api/status",
            "/api/upstreams/pieces/restart",
            "/api/activity?limit=50&upstream=my-files",
            "/api/incidents?format=markdown",
            "/api/upstreams/x/tools/a%20b",
            "/api/upstreams/x/tools/files%2Fread",
        ] {
            assert!(is_control(path), "{path}");
        }
    }

    #[test]
    fn nothing_else_is() {
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
            assert!(!is_control(path), "{path:?}");
        }
    }

    #[test]
    fn only_the_methods_of_the_control_api_are_known() {
        assert_eq!(known("PUT"), Some(Method::PUT));
        for method in ["CONNECT", "get", "", "TRACE"] {
            assert_eq!(known(method), None, "{method}");
        }
    }
}
