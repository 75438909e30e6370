//! Checks that Evermoor's folders are writable and its secret files private.

use std::path::PathBuf;

use evermoor_core::api::Check;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::private;
use evermoor_platform::fs::private::UnsafeFile;
use evermoor_platform::paths::Paths;

use crate::system::keys::KeyError;

pub(super) fn tokens(paths: &Paths) -> Check {
    let (id, title) = ("tokens", "Tokens");
    if let Some(error) = super::unsafe_tokens(paths) {
        return failed_check(id, title, &error);
    }
    for secret in secrets(paths) {
        if let Err(error) = private::read_private(&secret) {
            return failed_check(id, title, &KeyError::Unsafe(error));
        }
    }
    let count = crate::system::keys::known_tokens(paths).ok().flatten();
    Check::good(
        id,
        title,
        match count.map(|tokens| tokens.editors().count()) {
            None => "There is none yet; the first start creates one.".to_owned(),
            Some(1) => "1 editor has a token, which only you can read.".to_owned(),
            Some(many) => format!("{many} editors have tokens, which only you can read."),
        },
    )
}

fn failed_check(id: &str, title: &str, error: &KeyError) -> Check {
    if let KeyError::Unsafe(UnsafeFile::OpenToOthers { path }) = error {
        let detail = format!("Others can read {}.", path.display());
        let remedy = format!("Run `chmod 600 {}`.", path.display());
        return Check::bad(id, title, detail, remedy).fixable();
    }
    Check::bad(id, title, format!("{error}."), "Then start Evermoor again.")
}

fn secrets(paths: &Paths) -> [PathBuf; 3] {
    [paths.token_file(), paths.session_key_file(), paths.runtime_file()]
}

/// Makes the files readable by their owner only.
pub(super) fn close_tokens(paths: &Paths) -> Result<String, Failure> {
    for secret in secrets(paths).iter().filter(|file| file.is_file()) {
        private::create_private(secret).map_err(|error| unwritable(secret, &error))?;
    }
    Ok("Only you can read the files with tokens and keys now.".into())
}

fn kept(paths: &Paths) -> [PathBuf; 3] {
    [paths.data.clone(), paths.logs.clone(), paths.runtime.clone()]
}

pub(super) fn folders(paths: &Paths) -> Check {
    let (id, title) = ("folders", "Folders");
    for folder in kept(paths).iter().filter(|folder| folder.exists()) {
        if !private::is_writable_folder(folder) {
            let detail = format!("Evermoor cannot write to {}.", folder.display());
            return Check::bad(id, title, detail, "Make it a folder that you own.");
        }
    }
    // Logs and history may be readable by others; keys may not.
    let open =
        [&paths.data, &paths.runtime].into_iter().find(|folder| private::is_open_to_others(folder));
    match open {
        Some(folder) => {
            let detail = format!("Others can read {}.", folder.display());
            let remedy = format!("Run `chmod 700 {}`.", folder.display());
            Check::bad(id, title, detail, remedy).fixable()
        }
        None => Check::good(id, title, "They are writable, and only you can read them."),
    }
}

/// Makes the folders accessible to their owner only.
pub(super) fn close_folders(paths: &Paths) -> Result<String, Failure> {
    for folder in kept(paths) {
        private::private_folder(&folder).map_err(|error| unwritable(&folder, &error))?;
        private::close_to_others(&folder).map_err(|error| unwritable(&folder, &error))?;
    }
    Ok("Only you can read Evermoor's folders now.".into())
}

fn unwritable(path: &std::path::Path, error: &std::io::Error) -> Failure {
    let what = format!("Cannot change {}: {error}.", path.display());
    Failure::new(Code::Internal, what, "Make it a file or folder that you own.")
}
