//! What the status codes of macOS's keychain mean.

use super::KeychainError;

/// The error for a status code of Security.framework; `None` if the code says nothing about access.
pub(super) fn meaning(status: i32) -> Option<KeychainError> {
    match status {
        // errSecInteractionNotAllowed and errSecInteractionRequired: the keychain is locked, or it would
        // ask whether this program may read the secret.
        -25308 | -25315 => Some(KeychainError::NeedsUser),
        // errSecUserCanceled, and errSecAuthFailed for a wrong password or a denial.
        -128 | -25293 => Some(KeychainError::Declined),
        // errSecNotAvailable, errSecNoSuchKeychain, errSecInvalidKeychain, errSecNoDefaultKeychain.
        -25291 | -25294 | -25295 | -25307 => {
            Some(KeychainError::Unavailable(format!("status {status}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keychain_that_would_ask_needs_the_user() {
        for status in [-25308, -25315] {
            assert_eq!(meaning(status), Some(KeychainError::NeedsUser), "{status}");
        }
    }

    #[test]
    fn a_dialog_that_was_cancelled_or_denied_is_an_answer() {
        assert_eq!(meaning(-128), Some(KeychainError::Declined));
        assert_eq!(meaning(-25293), Some(KeychainError::Declined));
    }

    #[test]
    fn a_session_without_a_keychain_is_recognised() {
        for status in [-25291, -25294, -25295, -25307] {
            assert!(matches!(meaning(status), Some(KeychainError::Unavailable(_))), "{status}");
        }
    }

    #[test]
    fn other_codes_are_left_to_the_library() {
        for status in [0, -25300, -61, -50] {
            assert_eq!(meaning(status), None);
        }
    }
}
