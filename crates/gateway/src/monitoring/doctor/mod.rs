//! Looks at everything that ever goes wrong, and says what to do about it.
//!
//! What a machine shows without a gateway is looked at here too, so that the command line finds the
//! same when none runs. Each check has its time, and they are taken side by side: a disk that hangs
//! is failed_check as such and delays nobody.

mod config;
mod folders;
mod keychain;
mod machine;
mod upstreams;

use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{FutureExt as _, future::BoxFuture};
use tokio::time::timeout;

use evermoor_core::api::Check;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::paths::Paths;

use crate::lifecycle::keys;
use crate::server::control::Control;

/// How long one check may take.
const CHECK_TIMEOUT: Duration = Duration::from_millis(1_200);

/// What can be seen without a gateway.
pub async fn machine(paths: &Paths) -> Vec<Check> {
    let checks: [(&str, &str, BoxFuture<'_, Check>); 9] = [
        ("config", "Configuration", blocking(paths, config::config).boxed()),
        ("port", "Port", config::port(paths).boxed()),
        ("tokens", "Tokens", blocking(paths, folders::tokens).boxed()),
        ("folders", "Folders", blocking(paths, folders::folders).boxed()),
        ("keychain", "Keychain", keychain::keychain(paths).boxed()),
        ("disk", "Disk", blocking(paths, machine::disk).boxed()),
        ("clock", "Clock", blocking(paths, machine::clock).boxed()),
        ("service", "Service", machine::service().boxed()),
        ("login", "Launch at login", machine::login().boxed()),
    ];
    let checks = checks.map(|(id, title, check)| within(id, title, check));
    join_all(checks).await
}

/// What the gateway sees: the machine, and every upstream.
pub(crate) async fn all(control: &Control) -> Vec<Check> {
    let status = control.router.overview().borrow().status.clone();
    let mut found = vec![upstreams::gateway(&status)];
    found.extend(machine(&control.paths).await);
    found.extend(upstreams::all(&status));
    found
}

/// Puts right what needs no gateway; `None` if this is not of that kind.
pub fn fix_machine(paths: &Paths, id: &str) -> Option<Result<String, Failure>> {
    match id {
        "tokens" => Some(folders::close_tokens(paths)),
        "folders" => Some(folders::close_folders(paths)),
        _ => None,
    }
}

/// Puts one thing right, and says what was done.
pub(crate) async fn fix(control: &Control, id: &str) -> Result<String, Failure> {
    if let Some(fixed) = fix_machine(&control.paths, id) {
        return fixed;
    }
    match id.strip_prefix("upstream.").and_then(|name| control.router.upstream(name)) {
        Some(upstream) => {
            upstream.restart().await;
            Ok(format!("The connection to {} is made anew.", upstream.config.title))
        }
        None => {
            let what = format!("Nothing called `{id}` can be put right from here.");
            Err(Failure::new(Code::NotFound, what, "Do what its line says."))
        }
    }
}

/// Whether the tokens can be used, for whoever asks before it starts.
pub(crate) fn unsafe_tokens(paths: &Paths) -> Option<keys::KeyError> {
    keys::known_tokens(paths).err()
}

/// A check that may block goes to a thread that may.
async fn blocking(paths: &Paths, check: fn(&Paths) -> Check) -> Check {
    let (id, paths) = ("check", paths.clone());
    let looked = tokio::task::spawn_blocking(move || check(&paths)).await;
    looked.unwrap_or_else(|_| Check::skipped(id, "Look", "It could not be looked at."))
}

async fn within(id: &str, title: &str, check: BoxFuture<'_, Check>) -> Check {
    timeout(CHECK_TIMEOUT, check).await.unwrap_or_else(|_| {
        let detail =
            format!("It took longer than {} ms to check at it.", CHECK_TIMEOUT.as_millis());
        Check::skipped(id, title, detail)
    })
}
