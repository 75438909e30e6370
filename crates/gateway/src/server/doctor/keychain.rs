//! Checks that the keychain is unlocked and has the secrets that upstreams refer to.

use evermoor_core::api::Check;
use evermoor_core::security::secret_ref::SecretRef;
use evermoor_platform::keychain::{Keychain, Prompting};
use evermoor_platform::paths::Paths;

use super::{blocking, configured};
use crate::config::secrets;

pub(super) async fn keychain(paths: &Paths) -> Option<Check> {
    let config = blocking(paths, configured).await?;
    let mut needed: Vec<String> = config
        .upstreams
        .iter()
        .flat_map(|upstream| upstream.transport.references())
        .filter_map(|reference| match reference {
            SecretRef::Keyring(name) => Some(name.clone()),
            SecretRef::Env(_) | SecretRef::File(_) => None,
        })
        .collect();
    needed.sort();
    needed.dedup();
    let kept = Keychain::system_default(Prompting::Never).list().await;
    let (id, title) = ("keychain", "Keychain");
    Some(match kept {
        Ok(kept) => match needed.iter().find(|name| !kept.contains(name)) {
            Some(name) => {
                let detail = format!("It is unlocked, but the secret `{name}` is missing.");
                Check::bad(id, title, detail, format!("Run `evermoor secret set {name}`."))
            }
            None => Check::good(
                id,
                title,
                format!("It is unlocked and has all {} secrets that are needed.", needed.len()),
            ),
        },
        Err(error) if needed.is_empty() => {
            Check::skipped(id, title, format!("No server needs it ({error})."))
        }
        Err(error) => {
            let failure = secrets::keychain_failure(&error, needed.first().map(String::as_str));
            Check::bad(id, title, failure.what, failure.remedy)
        }
    })
}
