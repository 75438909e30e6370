//! Embeds the dashboard and declares the commands that its window may call.

use std::{fs, path::Path};

fn main() {
    // A fresh clone has no built dashboard yet; the program must compile all the same.
    fs::create_dir_all(Path::new("../ui/dist")).expect("the folder of the dashboard can be made");
    let commands = tauri_build::AppManifest::new().commands(&[
        "control",
        "copy",
        "install_update",
        "listening",
        "login_item",
        "notification_delivery",
        "open_folder",
        "open_link",
        "presence",
        "set_login_item",
        "update_state",
    ]);
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(commands))
        .expect("tauri.conf.json and capabilities/ are valid");
}
