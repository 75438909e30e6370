//! `evermoor login` and `evermoor logout`: signs in to a server, and out of it.

use std::io::{BufRead as _, IsTerminal as _};

use evermoor_client::ControlClient;
use evermoor_core::api::SignInState;
use evermoor_core::failure::Failure;
use evermoor_platform::paths::Paths;
use evermoor_platform::system::browser::open_in_browser;
use tokio::sync::mpsc;

use crate::exit::Exit;
use crate::runtime::run_async;
use crate::servers::lookup;
use crate::terminal::{self, Progress};

/// Opens the server's page in a browser and waits until the user has signed in.
pub(crate) fn login(paths: &Paths, upstream: &str, no_browser: bool) -> Exit {
    let Some(control) = ControlClient::find(paths) else {
        return Exit::not_running();
    };
    match run_async(sign_in(&control, upstream, no_browser)) {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => return Exit::failed(&failure),
        Err(error) => return Exit::failure(&error),
    }
    if terminal::options().json {
        terminal::print_json(serde_json::json!({ "upstream": upstream, "signedIn": true }));
    } else {
        terminal::print_message(&format_args!("Signed in to `{upstream}`."));
        terminal::print_note(&"Every editor can use it now.");
    }
    Exit::Ok
}

/// Ends the sign-in.
pub(crate) fn logout(paths: &Paths, upstream: &str) -> Exit {
    let Some(control) = ControlClient::find(paths) else {
        return Exit::not_running();
    };
    let asked = run_async(async {
        match control.sign_out(upstream).await {
            Ok(ended) => Ok(ended),
            Err(error) => Err(lookup::explain(&control, error, Some(upstream)).await),
        }
    });
    let ended = match asked {
        Ok(Ok(ended)) => ended,
        Ok(Err(failure)) => return Exit::failed(&failure),
        Err(error) => return Exit::failure(&error),
    };
    if terminal::options().json {
        terminal::print_json(serde_json::json!({
            "upstream": upstream,
            "wasSignedIn": ended.was_signed_in,
            "revoked": ended.revoked,
        }));
        return Exit::Ok;
    }
    if !ended.was_signed_in {
        terminal::print_message(&format_args!("There was no sign-in to `{upstream}`."));
        return Exit::Ok;
    }
    terminal::print_message(&format_args!("Signed out of `{upstream}`."));
    if !ended.revoked {
        terminal::print_note(
            &"The server did not confirm it. Evermoor has forgotten the sign-in; to end it there \
              too, use the server's own page.",
        );
    }
    Exit::Ok
}

async fn sign_in(control: &ControlClient, upstream: &str, no_browser: bool) -> Result<(), Failure> {
    let page = match control.sign_in(upstream).await {
        Ok(page) => page,
        Err(error) => return Err(lookup::explain(control, error, Some(upstream)).await),
    };
    let opened = !no_browser && open_in_browser(&page.url).await;
    if opened {
        terminal::print_note(&"Sign in on the page that has opened in your browser.");
    } else {
        terminal::print_message(&"Open this page in a browser and sign in:");
        terminal::print(&page.url);
    }
    let mut pasted = pasted_lines();
    if pasted.is_some() {
        terminal::print_note(
            &"If the browser is on another computer, it ends at an address that it cannot open. \
              Paste that address here.",
        );
    }
    let _progress = Progress::show("Waiting for your sign-in");
    loop {
        let line = async {
            match &mut pasted {
                Some(lines) => lines.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            state = control.sign_in_state(upstream) => match state? {
                SignInState::Waiting => {}
                SignInState::Done => return Ok(()),
                SignInState::Failed { failure } => return Err(failure),
            },
            line = line => match line {
                Some(address) => control.finish_sign_in(address.trim()).await?,
                // The input has ended; the browser may still come back.
                None => pasted = None,
            },
        }
    }
}

/// The lines that the user types, if there is a terminal.
fn pasted_lines() -> Option<mpsc::Receiver<String>> {
    if !std::io::stdin().is_terminal() || terminal::options().json {
        return None;
    }
    let (send, lines) = mpsc::channel(1);
    // It ends with the process: reading a line cannot be cancelled.
    let reader = std::thread::Builder::new().name("input".into()).spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if !line.trim().is_empty() && send.blocking_send(line).is_err() {
                return;
            }
        }
    });
    reader.ok()?;
    Some(lines)
}
