//! `evermoor open`: opens the dashboard in a browser, with a link that works once.

use evermoor_client::ControlClient;
use evermoor_platform::system::browser::open_in_browser;

use crate::exit::Exit;
use crate::instance::Instance;
use crate::runtime::run_async;
use crate::terminal;

pub(crate) fn run(instance: &Instance, print: bool) -> Exit {
    let Some(control) = ControlClient::find(&instance.paths) else {
        return Exit::not_running();
    };
    let launcher = match instance.launcher() {
        Ok(launcher) => launcher,
        Err(exit) => return exit,
    };
    let work = async {
        launcher.replace_if_older(&control);
        let link = control.dashboard_link().await?;
        let json = terminal::options().json;
        let opened = !print && !json && open_in_browser(&link).await;
        if json {
            terminal::print_json(serde_json::json!({ "url": link }));
        } else if !opened {
            terminal::print(&link);
        }
        Ok::<_, evermoor_client::ControlError>(())
    };
    match run_async(work) {
        Ok(Ok(())) => Exit::Ok,
        Ok(Err(error)) => Exit::failed(&error.into()),
        Err(error) => Exit::failure(&error),
    }
}
