//! The outages of upstreams, looked up in the history.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use serde::Deserialize;

use evermoor_core::history::incident::report;
use evermoor_core::history::incident::report::Environment;
use evermoor_core::history::incident::{Incident, Incidents};
use evermoor_core::security::anonymize::Private;
use evermoor_platform::clock;
use evermoor_platform::system::machine::{self, Person};

use super::{Control, refuse};
use crate::history::Asked;

#[derive(Deserialize)]
pub(super) struct Which {
    /// Only of this upstream, which may be one that is not configured any more.
    upstream: Option<String>,
    /// Only those that lasted at this moment or began later (milliseconds of the Unix epoch).
    since: Option<u64>,
    /// Only this one.
    id: Option<u64>,
    /// "markdown" for a report that can be pasted elsewhere.
    format: Option<String>,
}

pub(super) async fn list(
    State(control): State<Arc<Control>>,
    Query(which): Query<Which>,
) -> Response {
    let asked = Asked { upstream: which.upstream.clone(), since: which.since };
    let mut incidents = match control.history.incidents(asked).await {
        Ok(incidents) => incidents,
        Err(failure) => return refuse(StatusCode::SERVICE_UNAVAILABLE, failure),
    };
    incidents.retain(|incident| which.id.is_none_or(|id| incident.id == id));
    match which.format.as_deref() {
        Some("markdown") => {
            let kind = [(header::CONTENT_TYPE, "text/markdown; charset=utf-8")];
            (kind, written(&control, &which, &incidents).await).into_response()
        }
        Some(_) | None => Json(Incidents { incidents }).into_response(),
    }
}

/// The report, without the person whose machine it is.
async fn written(control: &Control, which: &Which, incidents: &[Incident]) -> String {
    let status = control.router.overview().borrow().status.clone();
    let (upstream, system) = (which.upstream.as_deref(), machine::system().await);
    let environment = Environment::of(&status, upstream, incidents, system);
    let now = clock::unix_millis();
    let period = which.since.map(|since| now.saturating_sub(since));
    let text = report::markdown(&environment, incidents, period, now);
    let Person { home, user, machine } = Person::here();
    Private { home, user, machine }.remove_from(text.trim_end())
}
