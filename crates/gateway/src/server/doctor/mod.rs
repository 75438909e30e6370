//! Checks everything that commonly goes wrong, and says what to do about it.
//!
//! The checks of the machine need no gateway, so the command line can run them when none runs. All
//! checks run concurrently, each with a timeout: a disk that hangs is reported and delays no other
//! check.
//!
//! - [`machine`](mod@machine), [`folders`], [`keychain`], [`config`]: checks that need no gateway
//! - [`upstreams`]: checks of the upstreams that run

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
use evermoor_core::config::Config;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::paths::Paths;

use crate::config::file;
use crate::server::control::ControlApi;
use crate::system::keys;
pub use machine::starts_at_login;

/// How long one check may take.
const CHECK_TIMEOUT: Duration = Duration::from_millis(1_200);

/// The checks that need no running gateway.
pub async fn machine(paths: &Paths) -> Vec<Check> {
    let checks: [(&str, &str, BoxFuture<'_, Option<Check>>); 9] = [
        ("config", "Configuration", blocking(paths, config::config).boxed()),
        ("port", "Port", config::port(paths).boxed()),
        ("tokens", "Tokens", blocking(paths, folders::tokens).boxed()),
        ("folders", "Folders", blocking(paths, folders::folders).boxed()),
        ("keychain", "Keychain", keychain::keychain(paths).boxed()),
        ("disk", "Disk", blocking(paths, machine::disk).boxed()),
        ("clock", "Clock", blocking(paths, machine::clock).boxed()),
        ("service", "Service", machine::service().map(Some).boxed()),
        ("login", "Launch at login", machine::login().map(Some).boxed()),
    ];
    let checks = checks.map(|(id, title, check)| within(id, title, check));
    join_all(checks).await
}

/// All checks of a running gateway: the machine and every upstream.
pub(crate) async fn all(control: &ControlApi) -> Vec<Check> {
    let status = control.router.overview().borrow().status.clone();
    let mut found = vec![upstreams::gateway(&status)];
    found.extend(machine(&control.paths).await);
    found.extend(upstreams::all(&status));
    found
}

/// Fixes a problem that needs no running gateway; `None` if it is not one of those.
pub fn fix_machine(paths: &Paths, id: &str) -> Option<Result<String, Failure>> {
    match id {
        "tokens" => Some(folders::close_tokens(paths)),
        "folders" => Some(folders::close_folders(paths)),
        _ => None,
    }
}

/// Fixes one problem, and returns what was done.
pub(crate) async fn fix(control: &ControlApi, id: &str) -> Result<String, Failure> {
    if let Some(fixed) = fix_machine(&control.paths, id) {
        return fixed;
    }
    match id.strip_prefix("upstream.").and_then(|name| control.router.upstream(name)) {
        Some(upstream) => {
            upstream.restart();
            Ok(format!("Reconnecting to {}.", upstream.config.title))
        }
        None => {
            let what = format!("`{id}` cannot be fixed automatically.");
            Err(Failure::new(Code::NotFound, what, "Follow the advice shown for this check."))
        }
    }
}

/// Why the tokens cannot be used; `None` if they can.
pub(crate) fn unsafe_tokens(paths: &Paths) -> Option<keys::KeyError> {
    keys::known_tokens(paths).err()
}

/// Runs a blocking check, or a blocking part of one, on a blocking thread.
async fn blocking<T: Send + 'static>(paths: &Paths, check: fn(&Paths) -> T) -> Option<T> {
    let paths = paths.clone();
    tokio::task::spawn_blocking(move || check(&paths)).await.ok()
}

/// The configuration, or that of a gateway without any if it cannot be read.
fn configured(paths: &Paths) -> Config {
    file::read(&paths.config).ok().flatten().unwrap_or_default()
}

/// The result of a check, whatever becomes of it. `None` from the check means that it panicked.
async fn within(id: &str, title: &str, check: BoxFuture<'_, Option<Check>>) -> Check {
    match timeout(CHECK_TIMEOUT, check).await {
        Ok(Some(check)) => check,
        Ok(None) => Check::skipped(id, title, "The check failed."),
        Err(_) => {
            let detail = format!("The check took longer than {} ms.", CHECK_TIMEOUT.as_millis());
            Check::skipped(id, title, detail)
        }
    }
}
