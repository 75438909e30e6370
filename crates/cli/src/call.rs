//! `evermoor tools` and `evermoor call`: real requests through the public endpoint.

use evermoor_client::Control;
use evermoor_client::mcp::{Session, SessionError, text_of};
use evermoor_core::json::Raw;
use evermoor_core::protocol::method;

use crate::connect::launcher;
use crate::exit::Exit;
use crate::serve::Place;
use crate::status::run_async;
use crate::terminal;

pub(crate) fn tools(place: &Place, upstream: Option<&str>, json: bool) -> Exit {
    let path = upstream.map_or_else(|| "/mcp".to_owned(), |name| format!("/mcp/{name}"));
    let listed =
        with_session(place, &path, async |session| session.ask(method::TOOLS_LIST, None).await);
    let result = match listed {
        Ok(result) => result,
        Err(exit) => return exit,
    };
    let tools = result.member("tools").and_then(|tools| tools.elements()).unwrap_or_default();
    if json {
        terminal::print(&format_args!("{{\"schema\":1,\"tools\":{}}}", Raw::of(&tools).as_str()));
        return Exit::Ok;
    }
    let row = |tool: &Raw| {
        let description = tool.text_member("description").unwrap_or_default();
        let first_line = description.lines().next().unwrap_or_default().to_owned();
        vec![tool.text_member("name").unwrap_or_default(), first_line]
    };
    let rows: Vec<Vec<String>> = tools.iter().map(row).collect();
    for line in terminal::columns(&rows) {
        terminal::print(&line);
    }
    Exit::Ok
}

pub(crate) fn call(place: &Place, tool: &str, arguments: &[String], json: bool) -> Exit {
    let mut given = serde_json::Map::new();
    for argument in arguments {
        let Some((name, value)) = argument.split_once('=') else {
            return Exit::failure(&format_args!(
                "`{argument}` is not an argument: write NAME=VALUE."
            ));
        };
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        given.insert(name.to_owned(), value);
    }
    let called = with_session(place, "/mcp", async |session| {
        session.call_tool(tool, &Raw::of(&given)).await
    });
    let result = match called {
        Ok(result) => result,
        Err(exit) => return exit,
    };
    if json {
        terminal::print(&result.as_str());
    } else {
        terminal::print(&text_of(&result));
    }
    let failed = result.member("isError").is_some_and(|flag| flag.as_str() == "true");
    if failed { Exit::Failure } else { Exit::Ok }
}

fn with_session(
    place: &Place,
    path: &str,
    work: impl AsyncFnOnce(&mut Session) -> Result<Raw, SessionError>,
) -> Result<Raw, Exit> {
    let control = Control::find(&place.paths).ok_or_else(Exit::not_running)?;
    let launcher = launcher(place.clone())?;
    let done = run_async(async {
        launcher.renew(&control);
        let mut session = Session::open(&control.runtime().origin, path, &place.paths).await?;
        work(&mut session).await
    });
    match done {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => Err(Exit::failure(&error)),
        Err(error) => Err(Exit::failure(&error)),
    }
}
