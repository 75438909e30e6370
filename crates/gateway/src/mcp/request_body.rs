//! The body of an editor's request, charged to the editor from the moment it is read.

use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use http::StatusCode;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Body as _;

use evermoor_core::protocol::request_size::MAX_REQUEST_BYTES;

use super::endpoint::McpEndpoint;
use super::http_message::refuse;
use crate::editors::Editor;
use crate::system::budget::{Budgets, Charge, NoRoom, ROOM_LIMIT, SMALL};

/// A body that was charged when it was read from the private socket.
#[derive(Clone, Copy)]
pub(crate) struct AlreadyCharged;

/// A whole body. Extracting it waits until its editor has room, and reads nothing meanwhile.
pub struct RequestBody(pub Bytes);

impl FromRequest<Arc<McpEndpoint>> for RequestBody {
    type Rejection = HttpResponse;

    async fn from_request(
        request: Request,
        endpoint: &Arc<McpEndpoint>,
    ) -> Result<Self, HttpResponse> {
        let (mut parts, body) = request.into_parts();
        let Extension(editor) = Extension::<Editor>::from_request_parts(&mut parts, endpoint)
            .await
            .map_err(|rejection| rejection.into_response())?;
        let charged = parts.extensions.get::<AlreadyCharged>().is_some();
        // A body of unknown length may have any.
        let length = match body.size_hint().upper() {
            Some(upper) => usize::try_from(upper).unwrap_or(usize::MAX).min(MAX_REQUEST_BYTES),
            None => MAX_REQUEST_BYTES,
        };
        if charged || length <= SMALL {
            return read(body).await.map(Self);
        }
        let charged = charge(&endpoint.budgets, &editor, length).await;
        let mut charge = charged.map_err(|full| no_room(&full))?;
        let body = read(body).await?;
        charge.shrink_to(body.len());
        Ok(Self(charge.keep(body).0))
    }
}

/// Charges an editor for a request of this length.
pub(crate) async fn charge(
    budgets: &Budgets,
    editor: &Editor,
    length: usize,
) -> Result<Charge, NoRoom> {
    budgets.editor(&editor.name).charge(length, ROOM_LIMIT).await
}

/// The response to a request for which there is no room.
pub(crate) fn no_room(full: &NoRoom) -> HttpResponse {
    let why = format!("Not read: {full}. Read the answers, then send it again.");
    refuse(StatusCode::SERVICE_UNAVAILABLE, &why)
}

/// The response to a request while too many others are open.
pub(crate) fn too_many() -> HttpResponse {
    refuse(
        StatusCode::SERVICE_UNAVAILABLE,
        "Not read: too many requests are open. Wait for answers.",
    )
}

async fn read(body: Body) -> Result<Bytes, HttpResponse> {
    match Limited::new(body, MAX_REQUEST_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, "The request is larger than 4 MiB."))
        }
        Err(error) => Err(refuse(StatusCode::BAD_REQUEST, &error.to_string())),
    }
}
