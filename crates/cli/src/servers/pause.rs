//! `evermoor pause` and `evermoor resume`: leaving upstreams alone for a while.

use evermoor_client::Control;
use evermoor_platform::paths::Paths;

use crate::exit::Exit;
use crate::inspect::status::run_async;
use crate::servers::lookup;
use crate::terminal;

pub(crate) fn run(paths: &Paths, upstream: Option<&str>, pause: bool) -> Exit {
    let Some(control) = Control::find(paths) else {
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
    if terminal::manner().json {
        terminal::print_json(serde_json::json!({ "upstream": upstream, "paused": pause }));
        return Exit::Ok;
    }
    let (what, how) = (
        upstream.map_or("Everything".to_owned(), |name| format!("`{name}`")),
        if pause { "paused" } else { "looked after again" },
    );
    terminal::say(&format_args!("{what} is {how}."));
    if pause {
        let resume = upstream.map_or_else(String::new, |name| format!(" {name}"));
        terminal::remark(&format_args!("It stays so until `evermoor resume{resume}`."));
    }
    Exit::Ok
}
