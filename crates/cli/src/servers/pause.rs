//! `evermoor pause` and `evermoor resume`.

use evermoor_client::ControlClient;
use evermoor_platform::paths::Paths;

use crate::exit::Exit;
use crate::runtime::run_async;
use crate::servers::lookup;
use crate::terminal;

pub(crate) fn run(paths: &Paths, upstream: Option<&str>, pause: bool) -> Exit {
    let Some(control) = ControlClient::find(paths) else {
        return Exit::not_running();
    };
    let asked = run_async(async {
        let asked = match pause {
            true => control.pause(upstream).await,
            false => control.resume(upstream).await,
        };
        match asked {
            Ok(()) => Ok(()),
            Err(error) => Err(lookup::explain(&control, error, upstream).await),
        }
    });
    match asked {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => return Exit::failed(&failure),
        Err(error) => return Exit::failure(&error),
    }
    if terminal::options().json {
        terminal::print_json(serde_json::json!({ "upstream": upstream, "paused": pause }));
        return Exit::Ok;
    }
    let what = upstream.map_or("all servers".to_owned(), |name| format!("`{name}`"));
    let done = if pause { "Paused" } else { "Resumed" };
    terminal::print_message(&format_args!("{done} {what}."));
    if pause {
        let resume = upstream.map_or_else(String::new, |name| format!(" {name}"));
        terminal::print_note(&format_args!("To resume, run `evermoor resume{resume}`."));
    }
    Exit::Ok
}
