//! `evermoor login` and `evermoor logout`: signs in to a server, and out of it.

use std::io::{BufRead as _, IsTerminal as _};

use evermoor_client::ControlClient;
use evermoor_core::api::{SignInPage, SignInState};
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::paths::Paths;
use evermoor_platform::process::signals::stop_requested;
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
    let mut page = begin(control, upstream, !no_browser).await?;
    let mut opened = !no_browser && open_in_browser(to_open(&page)).await;
    if !no_browser && !opened && page.code.is_none() {
        // There may be a way without a browser on this computer.
        page = begin(control, upstream, false).await?;
        opened = false;
    }
    show(&page, opened);
    let mut pasted = pasted_lines().filter(|_| page.code.is_none());
    if pasted.is_some() {
        terminal::print_note(
            &"If the browser is on another computer, it ends at an address that it cannot open. \
              Paste that address here.",
        );
    }
    let mut interrupted = std::pin::pin!(stop_requested());
    let _progress = Progress::show("Waiting for your sign-in");
    loop {
        let line = async {
            match &mut pasted {
                Some(lines) => lines.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = &mut interrupted => {
                // If nobody hears it, the sign-in expires.
                let _ = control.cancel_sign_in(upstream).await;
                let remedy = format!("Start it again with `evermoor login {upstream}`.");
                return Err(Failure::new(Code::Refused, "The sign-in was cancelled.", remedy));
            }
            state = control.sign_in_state(upstream) => match state? {
                SignInState::Waiting { .. } => {}
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

async fn begin(
    control: &ControlClient,
    upstream: &str,
    has_browser: bool,
) -> Result<SignInPage, Failure> {
    match control.sign_in(upstream, has_browser).await {
        Ok(page) => Ok(page),
        Err(error) => Err(lookup::explain(control, error, Some(upstream)).await),
    }
}

/// The address for a browser on this computer.
fn to_open(page: &SignInPage) -> &str {
    page.url_with_code.as_ref().unwrap_or(&page.url)
}

/// Says what the user has to do.
fn show(page: &SignInPage, opened: bool) {
    match (&page.code, opened) {
        (None, true) => {
            terminal::print_note(&"Sign in on the page that has opened in your browser.");
        }
        (None, false) => {
            terminal::print_message(&"Open this page in a browser and sign in:");
            terminal::print(&page.url);
        }
        (Some(code), true) => {
            terminal::print_message(
                &"Sign in on the page that has opened in your browser. It shows this code, or asks for it:",
            );
            terminal::print(code);
        }
        (Some(code), false) => {
            terminal::print_message(&"Open this page in a browser on any device:");
            terminal::print(&page.url);
            terminal::print_message(&"Enter this code there:");
            terminal::print(code);
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
