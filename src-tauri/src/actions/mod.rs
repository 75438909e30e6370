//! What a click in the menu does.
//!
//! [`action`] lists the actions; [`perform`] starts them. An action runs in the background, and its
//! effect shows in the gateway's state. The longer ones have files of their own: `restart`
//! and `sign_in` (a server), `move_port`, `relocate` and `quit`. This folder uses `gateway`, `window`, `alerts`,
//! `launch_at_login` and `updates`; only `tray` and `alerts` call it.

pub(crate) mod action;
pub(crate) mod move_port;
pub(crate) mod quit;
pub(crate) mod relocate;
pub(crate) mod restart;
pub(crate) mod sign_in;

use evermoor_client::ControlClient;
use evermoor_core::failure::Failure;
use evermoor_core::policy::alerts::TrayAction;
use serde_json::json;
use tauri::{AppHandle, Manager};
use tauri_plugin_clipboard_manager::ClipboardExt;
use tracing::warn;

use crate::actions::action::Action;
use crate::gateway::SupervisedGateway;
use crate::gateway::state_task::StateHandle;
use crate::updates::Updates;
use crate::window::page::Page;
use crate::{alerts, launch_at_login, window};

pub(crate) fn perform(action: Action, app: &AppHandle) {
    match action {
        Action::Copy(text) => {
            if let Err(error) = app.clipboard().write_text(text) {
                warn!(%error, "cannot copy to the clipboard");
            }
        }
        Action::Open => window::open(app),
        Action::Show(page) => window::open_at(app, &page),
        Action::Quit => quit::quit(app),
        Action::Restart(name) => restart::restart(app, name),
        Action::RestartAll => restart::restart_all(app),
        Action::SignIn(name) => sign_in::sign_in(app, name),
        Action::Reconnect(name) => {
            ask(app, &format!("/api/upstreams/{name}/reconnect"), None);
            alerts::record_action(app, TrayAction::Restart(name));
        }
        Action::TurnOn(name) => turn(app, &name, true),
        Action::TurnOff(name) => turn(app, &name, false),
        Action::Pause(Some(name)) => {
            ask(app, &format!("/api/upstreams/{name}/pause"), None);
            alerts::record_action(app, TrayAction::Manage(Some(name)));
        }
        Action::Pause(None) => {
            alerts::record_action(app, TrayAction::Manage(None));
            ask(app, "/api/pause", None);
        }
        Action::Resume(Some(name)) => ask(app, &format!("/api/upstreams/{name}/resume"), None),
        Action::Resume(None) => ask(app, "/api/resume", None),
        Action::Connect(editor) => connect(app, editor),
        Action::ShowEditor(_) => {
            app.state::<StateHandle>().refresh();
            window::open_at(app, &Page::Editors);
        }
        Action::Login => change_login(app),
        Action::Update => app.state::<Updates>().install(),
        Action::MovePort => move_port::move_port(app),
        Action::Relocate => relocate::relocate(app),
        Action::TryAgain => app.state::<SupervisedGateway>().supervisor().try_now(),
    }
}

/// Posts to the gateway in the background.
fn ask(app: &AppHandle, path: &str, body: Option<serde_json::Value>) {
    let gateway = app.state::<SupervisedGateway>();
    let (control, path) = (gateway.supervisor().control(), path.to_owned());
    gateway.spawn(async move {
        if let Err(failure) = post(control, &path, body).await {
            warn!(path, %failure, "a menu action failed");
        }
    });
}

fn turn(app: &AppHandle, upstream: &str, on: bool) {
    alerts::record_action(app, TrayAction::Manage(Some(upstream.to_owned())));
    ask(app, &format!("/api/upstreams/{upstream}/enabled"), Some(json!({ "enabled": on })));
}

/// Connects an editor and shows the result.
fn connect(app: &AppHandle, editor: String) {
    let gateway = app.state::<SupervisedGateway>();
    let (control, app) = (gateway.supervisor().control(), app.clone());
    gateway.spawn(async move {
        if let Err(failure) = post(control, &format!("/api/setup/{editor}/connect"), None).await {
            warn!(editor, %failure, "cannot connect the editor");
        }
        app.state::<StateHandle>().refresh();
        window::open_at(&app, &Page::Editors);
    });
}

fn change_login(app: &AppHandle) {
    let gateway = app.state::<SupervisedGateway>();
    let app = app.clone();
    gateway.spawn(async move {
        if let Err(failure) = launch_at_login::set(&app, !launch_at_login::is_enabled(&app)) {
            warn!(%failure, "cannot change launch at login");
        }
        app.state::<StateHandle>().refresh();
    });
}

pub(crate) async fn post(
    control: Result<ControlClient, Failure>,
    path: &str,
    body: Option<serde_json::Value>,
) -> Result<serde_json::Value, Failure> {
    control?.post(path, body.as_ref()).await.map_err(Failure::from)
}
