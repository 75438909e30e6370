//! Finds the upstream that the user named, or suggests the one they may have meant.

use evermoor_client::{ControlClient, ControlError};
use evermoor_core::api::{Status, UpstreamStatus};
use evermoor_core::failure::{Code, Failure};

use crate::servers::suggest;

/// The upstream with this name.
pub(crate) async fn named(control: &ControlClient, name: &str) -> Result<UpstreamStatus, Failure> {
    in_status(&control.status().await?, name).cloned()
}

pub(crate) fn in_status<'a>(status: &'a Status, name: &str) -> Result<&'a UpstreamStatus, Failure> {
    let found = status.upstreams.iter().find(|upstream| upstream.name == name);
    found.ok_or_else(|| unknown(name, status.upstreams.iter().map(|one| one.name.as_str())))
}

pub(crate) fn unknown<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Failure {
    let remedy =
        suggest::sentence(suggest::closest(name, names), "Run `evermoor status` to list them.");
    Failure::new(Code::NotFound, format!("There is no server `{name}`."), remedy)
}

/// The failure of a request. If the name is unknown, suggests another one.
pub(crate) async fn explain(
    control: &ControlClient,
    error: ControlError,
    name: Option<&str>,
) -> Failure {
    let failure = Failure::from(error);
    match name {
        Some(name) if failure.code == Code::NotFound => {
            named(control, name).await.err().unwrap_or(failure)
        }
        Some(_) | None => failure,
    }
}
