//! `evermoor tools` and `evermoor call`: send real requests through the public endpoint.

use evermoor_client::ControlClient;
use evermoor_client::mcp::{Session, SessionError, text_of};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;

use crate::exit::Exit;
use crate::instance::Instance;
use crate::runtime::run_async;
use crate::servers::suggest;
use crate::terminal::{self, Progress};

pub(crate) fn tools(instance: &Instance, upstream: Option<&str>) -> Exit {
    let path = upstream.map_or_else(|| "/mcp".to_owned(), |name| format!("/mcp/{name}"));
    let listed =
        with_session(instance, &path, async |session| session.ask(method::TOOLS_LIST, None).await);
    let result = match listed {
        Ok(result) => result,
        Err(exit) => return exit,
    };
    let tools = result.member("tools").and_then(|tools| tools.elements()).unwrap_or_default();
    if terminal::options().json {
        terminal::print_result(&format!("{{\"schema\":1,\"tools\":{}}}", Raw::of(&tools).as_str()));
        return Exit::Ok;
    }
    if tools.is_empty() {
        terminal::print_note(&"There are no tools. Run `evermoor status` to see why.");
    }
    let row = |tool: &Raw| {
        let description = tool.text_member("description").unwrap_or_default();
        let first_line = description.lines().next().unwrap_or_default().to_owned();
        vec![tool.text_member("name").unwrap_or_default(), first_line]
    };
    let rows: Vec<Vec<String>> = tools.iter().map(row).collect();
    for line in terminal::columns(&rows, terminal::width()) {
        terminal::print(&line);
    }
    Exit::Ok
}

pub(crate) fn call(instance: &Instance, tool: &str, arguments: &[String]) -> Exit {
    let mut given = serde_json::Map::new();
    for argument in arguments {
        let Some((name, value)) = argument.split_once('=') else {
            return Exit::usage(&format_args!(
                "`{argument}` is not a valid argument. Write NAME=VALUE."
            ));
        };
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        given.insert(name.to_owned(), value);
    }
    let progress = Progress::show(&format!("Calling {tool}"));
    let called = with_session(instance, "/mcp", async |session| {
        let called = session.call_tool(tool, &Raw::of(&given)).await;
        match called {
            Err(SessionError::Refused(why)) => Err(explain(session, tool, why).await),
            other => other,
        }
    });
    drop(progress);
    let result = match called {
        Ok(result) => result,
        Err(exit) => return exit,
    };
    if terminal::options().json {
        terminal::print_result(&format!("{{\"schema\":1,\"result\":{}}}", result.as_str()));
    } else {
        terminal::print_result(&text_of(&result));
    }
    let failed = result.member("isError").is_some_and(|flag| flag.as_str() == "true");
    if failed { Exit::Failure } else { Exit::Ok }
}

/// Why a call was rejected, with the tool that the user may have meant.
async fn explain(session: &mut Session, tool: &str, why: String) -> SessionError {
    let listed = session.ask(method::TOOLS_LIST, None).await.ok();
    let tools = listed.and_then(|listed| listed.member("tools")?.elements()).unwrap_or_default();
    let names: Vec<String> = tools.iter().filter_map(|tool| tool.text_member("name")).collect();
    if names.iter().any(|name| name == tool) {
        return SessionError::Refused(why);
    }
    let meant = suggest::closest(tool, names.iter().map(String::as_str));
    let remedy = suggest::sentence(meant, "Run `evermoor tools` to list them.");
    SessionError::Refused(format!("There is no tool `{tool}`. {remedy}"))
}

fn with_session(
    instance: &Instance,
    path: &str,
    work: impl AsyncFnOnce(&mut Session) -> Result<Raw, SessionError>,
) -> Result<Raw, Exit> {
    let control = ControlClient::find(&instance.paths).ok_or_else(Exit::not_running)?;
    let launcher = instance.launcher()?;
    let done = run_async(async {
        launcher.replace_if_older(&control);
        let mut session = Session::open(&control.runtime().origin, path, &instance.paths).await?;
        work(&mut session).await
    });
    match done {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => Err(Exit::failure(&error)),
        Err(error) => Err(Exit::failure(&error)),
    }
}
