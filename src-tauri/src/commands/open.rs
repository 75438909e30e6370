//! Leaving the window: a page of the web in the person's browser, or a folder of ours. The dashboard
//! names a page or one of three folders, never a path or a program.

use std::path::Path;

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::paths::Paths;
use serde::Deserialize;
use tauri::{AppHandle, State, Url};
use tauri_plugin_opener::OpenerExt;

use crate::gateway::Gateway;

/// A folder that a person may want to look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Folder {
    Config,
    Data,
    Logs,
}

#[tauri::command]
pub(crate) async fn open_folder(
    app: AppHandle,
    gateway: State<'_, Gateway>,
    what: Folder,
) -> Result<(), Failure> {
    let folder = what.among(gateway.keeper().paths()).to_owned();
    let made = std::fs::create_dir_all(&folder).map_err(|error| error.to_string());
    let shown = folder.to_string_lossy();
    made.and_then(|()| {
        app.opener().open_path(&*shown, None::<&str>).map_err(|error| error.to_string())
    })
    .map_err(|error| {
        let what = format!("The folder {shown} could not be opened: {error}.");
        Failure::new(Code::Internal, what, "Open it in your file manager.")
    })
}

#[tauri::command]
pub(crate) async fn open_link(app: AppHandle, url: String) -> Result<(), Failure> {
    let page = page(&url).ok_or_else(|| {
        let what = format!("{url} is not a page of the web.");
        Failure::new(Code::Forbidden, what, "Only https addresses are opened.")
    })?;
    app.opener().open_url(page, None::<&str>).map_err(|error| {
        let what = format!("The browser could not be opened: {error}.");
        Failure::new(Code::Internal, what, format!("Open {url} by hand."))
    })
}

impl Folder {
    fn among(self, paths: &Paths) -> &Path {
        match self {
            Self::Config => paths.config.parent().unwrap_or(&paths.config),
            Self::Data => &paths.data,
            Self::Logs => &paths.logs,
        }
    }
}

/// The address as a browser reads it, if it is one of the web with a host and without credentials.
fn page(url: &str) -> Option<Url> {
    let url: Url = url.parse().ok()?;
    let plain = url.username().is_empty() && url.password().is_none();
    (url.scheme() == "https" && url.host_str().is_some() && plain).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_web_are_opened() {
        assert!(page("https://example.com/a?b#c").is_some());
        for bad in [
            "http://example.com/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "mailto:a@example.com",
            "https://",
            "https://user:pw@example.com/",
            "/usr/bin/xterm",
            "-flag",
            "",
        ] {
            assert!(page(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_folder_is_one_of_ours() {
        let paths = Paths::find(Some("/tmp/e".into())).unwrap();
        assert_eq!(Folder::Config.among(&paths), Path::new("/tmp/e"));
        assert_eq!(Folder::Data.among(&paths), Path::new("/tmp/e/data"));
        assert_eq!(Folder::Logs.among(&paths), Path::new("/tmp/e/logs"));
    }
}
