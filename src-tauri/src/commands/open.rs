//! Opens a web page in the browser, or one of Evermoor's folders. The dashboard can name an https
//! link or one of three folders, never a path or a program.

use std::path::Path;

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::paths::Paths;
use serde::Deserialize;
use tauri::{AppHandle, State, Url};
use tauri_plugin_opener::OpenerExt;

use crate::gateway::SupervisedGateway;

/// A folder that the dashboard can open.
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
    gateway: State<'_, SupervisedGateway>,
    what: Folder,
) -> Result<(), Failure> {
    let folder = what.path(gateway.supervisor().paths()).to_owned();
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
    let page = web_page(&url).ok_or_else(|| {
        let what = format!("{url} is not a web page.");
        Failure::new(Code::Forbidden, what, "Evermoor opens https links only.")
    })?;
    app.opener().open_url(page, None::<&str>).map_err(|error| {
        let what = format!("The browser could not be opened: {error}.");
        Failure::new(Code::Internal, what, format!("Open {url} yourself."))
    })
}

impl Folder {
    fn path(self, paths: &Paths) -> &Path {
        match self {
            Self::Config => paths.config.parent().unwrap_or(&paths.config),
            Self::Data => &paths.data,
            Self::Logs => &paths.logs,
        }
    }
}

/// The parsed URL, if it is https with a host and without credentials.
fn web_page(url: &str) -> Option<Url> {
    let url: Url = url.parse().ok()?;
    let plain = url.username().is_empty() && url.password().is_none();
    (url.scheme() == "https" && url.host_str().is_some() && plain).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_links_are_opened() {
        assert!(web_page("https://example.com/a?b#c").is_some());
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
            assert!(web_page(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn every_folder_is_one_of_evermoors() {
        let paths = Paths::find(Some("/tmp/e".into())).unwrap();
        assert_eq!(Folder::Config.path(&paths), Path::new("/tmp/e"));
        assert_eq!(Folder::Data.path(&paths), Path::new("/tmp/e/data"));
        assert_eq!(Folder::Logs.path(&paths), Path::new("/tmp/e/logs"));
    }
}
