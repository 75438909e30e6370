//! Signs in to an upstream: opens the page of its authorization server in the browser. The gateway does
//! the rest, and the state shows when the user has signed in. A code that the user enters on that page is
//! shown in the dashboard.

use evermoor_client::ControlClient;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::system::browser::open_in_browser;
use tauri::{AppHandle, Manager};
use tracing::warn;

use crate::gateway::SupervisedGateway;
use crate::window;
use crate::window::page::Page;

/// Opens the page. If that fails, the upstream's page in the dashboard says why when the user tries there.
pub(crate) fn sign_in(app: &AppHandle, upstream: String) {
    let gateway = app.state::<SupervisedGateway>();
    let (control, app) = (gateway.supervisor().control(), app.clone());
    gateway.spawn(async move {
        let has_code = begin(control, &upstream).await.unwrap_or_else(|failure| {
            warn!(upstream, %failure, "cannot begin the sign-in");
            true
        });
        if has_code {
            window::open_at(&app, &Page::Upstream(upstream));
        }
    });
}

/// Begins the sign-in. Returns whether the user must enter a code.
async fn begin(control: Result<ControlClient, Failure>, upstream: &str) -> Result<bool, Failure> {
    let page = control?.sign_in(upstream, true).await.map_err(Failure::from)?;
    match open_in_browser(&page.url).await {
        true => Ok(page.code.is_some()),
        false => {
            let what = "The browser could not be opened.";
            Err(Failure::new(
                Code::Internal,
                what,
                "Sign in on the server's page in the dashboard.",
            ))
        }
    }
}
