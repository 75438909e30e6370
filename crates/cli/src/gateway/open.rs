//! `evermoor open`: the dashboard in a browser, by a link that works once.

use evermoor_client::Control;
use evermoor_platform::system::browser::open_in_browser;

use crate::exit::Exit;
use crate::gateway::connect::launcher;
use crate::gateway::serve::Place;
use crate::inspect::status::run_async;
use crate::terminal;

pub(crate) fn run(place: &Place, print: bool) -> Exit {
    let Some(control) = Control::find(&place.paths) else {
        return Exit::not_running();
    };
    let launcher = match launcher(place.clone()) {
        Ok(launcher) => launcher,
        Err(exit) => return exit,
    };
    let work = async {
        launcher.renew(&control);
        let link = control.dashboard_link().await?;
        let json = terminal::manner().json;
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
