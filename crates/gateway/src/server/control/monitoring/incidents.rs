//! Incidents from the history, as JSON or as a Markdown report.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use serde::Deserialize;

use evermoor_core::history::incident::report;
use evermoor_core::history::incident::report::ReportEnvironment;
use evermoor_core::history::incident::{Incident, Incidents};
use evermoor_core::security::personal_names::PrivateNames;
use evermoor_platform::clock;
use evermoor_platform::system::machine::{self, LocalUser};

use crate::history::IncidentQuery;
use crate::server::control::{ControlApi, refuse};

#[derive(Deserialize)]
pub(crate) struct IncidentsQuery {
    /// Only of this upstream, which may no longer be configured.
    upstream: Option<String>,
    /// Only those that lasted until this time or began later, in Unix milliseconds.
    since: Option<u64>,
    /// Only this one.
    id: Option<u64>,
    /// "markdown" for a report to paste elsewhere.
    format: Option<String>,
}

pub(crate) async fn list(
    State(control): State<Arc<ControlApi>>,
    Query(query): Query<IncidentsQuery>,
) -> Response {
    let asked = IncidentQuery { upstream: query.upstream.clone(), since: query.since };
    let mut incidents = match control.history.incidents(asked).await {
        Ok(incidents) => incidents,
        Err(failure) => return refuse(StatusCode::SERVICE_UNAVAILABLE, failure),
    };
    incidents.retain(|incident| query.id.is_none_or(|id| incident.id == id));
    match query.format.as_deref() {
        Some("markdown") => {
            let kind = [(header::CONTENT_TYPE, "text/markdown; charset=utf-8")];
            (kind, markdown_report(&control, &query, &incidents).await).into_response()
        }
        Some(_) | None => Json(Incidents { incidents }).into_response(),
    }
}

/// The report, without names that identify the user or the machine.
async fn markdown_report(
    control: &ControlApi,
    query: &IncidentsQuery,
    incidents: &[Incident],
) -> String {
    let status = control.router.overview().borrow().status.clone();
    let (upstream, system) = (query.upstream.as_deref(), machine::describe_system().await);
    let environment = ReportEnvironment::of(&status, upstream, incidents, system);
    let now = clock::unix_millis();
    let period = query.since.map(|since| now.saturating_sub(since));
    let text = report::markdown(&environment, incidents, period, now);
    let LocalUser { home, user, machine } = LocalUser::here();
    PrivateNames { home, user, machine }.remove_from(text.trim_end())
}
