//! Signs in to an upstream: opens the page of its authorization server in the browser. The gateway does
//! the rest, and the state shows when the user has signed in.

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
        if let Err(failure) = begin(control, &upstream).await {
            warn!(upstream, %failure, "cannot begin the sign-in");
            window::open_at(&app, &Page::Upstream(upstream));
        }
    });
}

async fn begin(control: Result<ControlClient, Failure>, upstream: &str) -> Result<(), Failure> {
    let page = control?.sign_in(upstream).await.map_err(Failure::from)?;
    match open_in_browser(&page.url).await {
        true => Ok(()),
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
