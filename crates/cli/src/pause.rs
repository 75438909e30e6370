//! `evermoor pause` and `evermoor resume`: leaving upstreams alone for a while.

use evermoor_client::Control;
use evermoor_core::failure::Failure;
use evermoor_platform::paths::Paths;

use crate::exit::Exit;
use crate::status::run_async;
use crate::terminal;

pub(crate) fn run(paths: &Paths, upstream: Option<&str>, pause: bool, json: bool) -> Exit {
    let Some(control) = Control::find(paths) else {
        return Exit::not_running();
    };
    let asked = run_async(async {
        match pause {
            true => control.pause(upstream).await,
            false => control.resume(upstream).await,
        }
    });
    match asked {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Exit::failure(&Failure::from(error)),
        Err(error) => return Exit::failure(&error),
    }
    if json {
        let data = serde_json::json!({ "schema": 1, "upstream": upstream, "paused": pause });
        terminal::print(&data);
        return Exit::Ok;
    }
    let (what, how) = (
        upstream.map_or("Everything".to_owned(), |name| format!("`{name}`")),
        if pause { "paused" } else { "looked after again" },
    );
    terminal::print(&format_args!("{what} is {how}."));
    if pause {
        let resume = upstream.map_or_else(String::new, |name| format!(" {name}"));
        terminal::remark(&format_args!("It stays so until `evermoor resume{resume}`."));
    }
    Exit::Ok
}
