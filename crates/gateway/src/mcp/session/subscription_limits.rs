//! How much one client may subscribe to. What it subscribes to is charged to its editor.

use std::sync::Arc;

use evermoor_core::catalog::limits::LONGEST_URI;

use crate::system::budget::{Budget, Charge};

/// How many resources one client may subscribe to.
pub(crate) const MAX_RESOURCES: usize = 1_024;
/// How long their URIs may be together.
const MAX_BYTES: usize = 1 << 20;
/// What a subscription takes besides its URI.
const ENTRY_SIZE: usize = 128;
/// How often a URI is kept: by the session, for its upstream, and to be written to disk.
const COPIES: usize = 3;

/// A client must not subscribe to this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExcessiveSubscription {
    #[error("A resource URI can have at most {LONGEST_URI} bytes.")]
    LongUri,
    #[error(
        "A client can subscribe to at most {MAX_RESOURCES} resources, whose URIs have at most 1 MB together. \
         Unsubscribe from some of them first."
    )]
    TooMany,
    #[error(
        "There is no room for more subscriptions of this editor. Unsubscribe from some resources first."
    )]
    NoRoom,
}

/// Checks what one client subscribes to.
pub(crate) fn check<'a>(uris: impl Iterator<Item = &'a str>) -> Result<(), ExcessiveSubscription> {
    let (mut count, mut bytes) = (0, 0);
    for uri in uris {
        if uri.len() > LONGEST_URI {
            return Err(ExcessiveSubscription::LongUri);
        }
        (count, bytes) = (count + 1, bytes + uri.len());
    }
    match count > MAX_RESOURCES || bytes > MAX_BYTES {
        true => Err(ExcessiveSubscription::TooMany),
        false => Ok(()),
    }
}

/// Charges an editor for what one of its clients subscribes to.
pub(crate) fn charge<'a>(
    budget: &Arc<Budget>,
    uris: impl Iterator<Item = &'a str>,
) -> Result<Charge, ExcessiveSubscription> {
    let bytes = uris.map(|uri| (uri.len() + ENTRY_SIZE) * COPIES).sum();
    budget.try_charge(bytes).map_err(|_| ExcessiveSubscription::NoRoom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_subscribe_to_so_many_resources_and_no_more() {
        let uris = |count: usize, length: usize| vec!["x".repeat(length); count];
        let checked = |uris: Vec<String>| check(uris.iter().map(String::as_str));
        assert_eq!(checked(uris(MAX_RESOURCES, 100)), Ok(()));
        assert_eq!(checked(uris(MAX_RESOURCES + 1, 1)), Err(ExcessiveSubscription::TooMany));
        assert_eq!(checked(uris(MAX_RESOURCES, 2_000)), Err(ExcessiveSubscription::TooMany));
        assert_eq!(checked(uris(1, LONGEST_URI)), Ok(()));
        assert_eq!(checked(uris(1, LONGEST_URI + 1)), Err(ExcessiveSubscription::LongUri));
    }
}
