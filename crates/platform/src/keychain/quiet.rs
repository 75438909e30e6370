//! Keeps macOS from asking the user, for the time of one request, and lets it ask for the password of the
//! login keychain.
//!
//! The switch belongs to the whole process, so all requests take turns: a request that may ask must
//! not run while another has turned the questions off.

use security_framework::os::macos::keychain::{
    KeychainUserInteractionLock, SecKeychain, SecPreferencesDomain,
};
use tokio::sync::{Mutex, MutexGuard};

use super::{KeychainError, Prompting, os_status};

static TURN: Mutex<()> = Mutex::const_new(());

/// The turn of one request. While it exists, the system asks the user only if that is allowed.
pub(super) struct Turn {
    // Dropped first, so that the questions are on again before the next turn.
    _quiet: Option<KeychainUserInteractionLock>,
    _turn: MutexGuard<'static, ()>,
}

/// Waits for a turn. Must be called outside of an async task.
pub(super) fn turn(manner: Prompting) -> Turn {
    let turn = TURN.blocking_lock();
    let quiet = match manner {
        Prompting::Allowed => None,
        Prompting::Never => SecKeychain::disable_user_interaction()
            .inspect_err(|error| tracing::warn!(%error, "the keychain may ask the user"))
            .ok(),
    };
    Turn { _quiet: quiet, _turn: turn }
}

/// Unlocks the login keychain. The system asks for its password if it is locked.
pub(super) fn unlock() -> Result<(), KeychainError> {
    let unlocked = SecKeychain::default_for_domain(SecPreferencesDomain::User)
        .and_then(|mut keychain| keychain.unlock(None));
    unlocked.map_err(|error| {
        let refused = || KeychainError::Refused(error.to_string());
        os_status::meaning(error.code()).unwrap_or_else(refused)
    })
}
