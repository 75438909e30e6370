//! How what a click asks for is done. Nobody waits for it: how it goes is seen in the state.

pub(crate) mod action;
pub(crate) mod move_port;
pub(crate) mod quit;
pub(crate) mod restart;

use evermoor_client::Control;
use evermoor_core::failure::Failure;
use evermoor_core::policy::alerts::TrayAction;
use serde_json::json;
use tauri::{AppHandle, Manager};
use tauri_plugin_clipboard_manager::ClipboardExt;
use tracing::warn;

use crate::actions::action::Action;
use crate::gateway::Gateway;
use crate::gateway::state_task::Desk;
use crate::updates::Updates;
use crate::window::page::Page;
use crate::{alerts, login, window};

pub(crate) fn perform(action: Action, app: &AppHandle) {
    match action {
        Action::Copy(text) => {
            if let Err(error) = app.clipboard().write_text(text) {
                warn!(%error, "the text could not be copied");
            }
        }
        Action::Open => window::open(app),
        Action::Show(page) => window::open_at(app, &page),
        Action::Quit => quit::quit(app),
        Action::Restart(name) => restart::restart(app, name),
        Action::RestartAll => restart::restart_all(app),
        Action::Reconnect(name) => {
            ask(app, &format!("/api/upstreams/{name}/reconnect"), None);
            alerts::acted(app, TrayAction::Restart(name));
        }
        Action::TurnOn(name) => turn(app, &name, true),
        Action::TurnOff(name) => turn(app, &name, false),
        Action::Pause(Some(name)) => {
            ask(app, &format!("/api/upstreams/{name}/pause"), None);
            alerts::acted(app, TrayAction::Manage(Some(name)));
        }
        Action::Pause(None) => {
            alerts::acted(app, TrayAction::Manage(None));
            ask(app, "/api/pause", None);
        }
        Action::Resume(Some(name)) => ask(app, &format!("/api/upstreams/{name}/resume"), None),
        Action::Resume(None) => ask(app, "/api/resume", None),
        Action::Connect(editor) => connect(app, editor),
        Action::LookAt(_) => {
            app.state::<Desk>().look_again();
            window::open_at(app, &Page::Editors);
        }
        Action::Login => change_login(app),
        Action::Update => app.state::<Updates>().install(),
        Action::MovePort => move_port::move_port(app),
        Action::TryAgain => app.state::<Gateway>().keeper().try_now(),
    }
}

/// Has the gateway do something.
fn ask(app: &AppHandle, path: &str, body: Option<serde_json::Value>) {
    let gateway = app.state::<Gateway>();
    let (control, path) = (gateway.keeper().control(), path.to_owned());
    gateway.spawn(async move {
        if let Err(failure) = post(control, &path, body).await {
            warn!(path, %failure, "the gateway did not do what a click asked for");
        }
    });
}

fn turn(app: &AppHandle, upstream: &str, on: bool) {
    alerts::acted(app, TrayAction::Manage(Some(upstream.to_owned())));
    ask(app, &format!("/api/upstreams/{upstream}/enabled"), Some(json!({ "enabled": on })));
}

/// Connects an editor and shows what came of it.
fn connect(app: &AppHandle, editor: String) {
    let gateway = app.state::<Gateway>();
    let (control, app) = (gateway.keeper().control(), app.clone());
    gateway.spawn(async move {
        if let Err(failure) = post(control, &format!("/api/setup/{editor}/connect"), None).await {
            warn!(editor, %failure, "the editor was not connected");
        }
        app.state::<Desk>().look_again();
        window::open_at(&app, &Page::Editors);
    });
}

fn change_login(app: &AppHandle) {
    let gateway = app.state::<Gateway>();
    let app = app.clone();
    gateway.spawn(async move {
        if let Err(failure) = login::set(&app, !login::is_enabled(&app)) {
            warn!(%failure, "launch at login stays as it is");
        }
        app.state::<Desk>().look_again();
    });
}

pub(crate) async fn post(
    control: Result<Control, Failure>,
    path: &str,
    body: Option<serde_json::Value>,
) -> Result<serde_json::Value, Failure> {
    control?.order(path, body.as_ref()).await.map_err(Failure::from)
}
