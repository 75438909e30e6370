//! The body of an editor's request, charged to the editor from the moment it is read.

use std::sync::Arc;

use axum::body::{Bytes, HttpBody};
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use axum::{BoxError, Extension};
use http::StatusCode;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use evermoor_core::protocol::request_size::MAX_REQUEST_BYTES;

use super::endpoint::McpEndpoint;
use super::http_message::refuse;
use crate::editors::Editor;
use crate::system::budget::{NoRoom, ROOM_LIMIT, SMALL};

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
        if parts.extensions.get::<AlreadyCharged>().is_some() {
            return read(body).await.map(Self);
        }
        Self::charged(endpoint, &editor, body).await
    }
}

impl RequestBody {
    /// Reads a body once its editor has room for it.
    pub(crate) async fn charged<B>(
        endpoint: &McpEndpoint,
        editor: &Editor,
        body: B,
    ) -> Result<Self, HttpResponse>
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        // A body of unknown length may have any.
        let length = match body.size_hint().upper() {
            Some(upper) => usize::try_from(upper).unwrap_or(usize::MAX).min(MAX_REQUEST_BYTES),
            None => MAX_REQUEST_BYTES,
        };
        if length <= SMALL {
            return read(body).await.map(Self);
        }
        let charged = endpoint.budgets.editor(&editor.name).charge(length, ROOM_LIMIT).await;
        let mut charge = charged.map_err(|full| no_room(&full))?;
        let body = read(body).await?;
        charge.shrink_to(body.len());
        Ok(Self(charge.keep(body).0))
    }
}

/// The response to a request for which there is no room.
pub(crate) fn no_room(full: &NoRoom) -> HttpResponse {
    let why =
        format!("The request was not read: {full}. Read the pending answers, then send it again.");
    refuse(StatusCode::SERVICE_UNAVAILABLE, &why)
}

/// The response to a request while too many others are open.
pub(crate) fn too_many() -> HttpResponse {
    refuse(
        StatusCode::SERVICE_UNAVAILABLE,
        "The request was not read: too many requests are open. Wait for an answer, then send it again.",
    )
}

async fn read<B>(body: B) -> Result<Bytes, HttpResponse>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    match Limited::new(body, MAX_REQUEST_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, "The request is larger than 4 MiB."))
        }
        Err(error) => Err(refuse(StatusCode::BAD_REQUEST, &error.to_string())),
    }
}
