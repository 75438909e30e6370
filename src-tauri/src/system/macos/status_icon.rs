//! The image in the menu bar: 18 points high, with one bitmap for each kind of screen. The tray
//! library passes on one bitmap only, which is scaled and therefore blurred on the other kind.

use objc2::rc::Retained;
use objc2::{AllocAnyThread, MainThreadMarker};
use objc2_app_kit::{NSBitmapImageRep, NSImage};
use objc2_foundation::{NSData, NSSize};
use tauri::Wry;
use tauri::tray::TrayIcon;
use tracing::warn;

use crate::tray::icon::{POINTS, template_files};
use evermoor_core::api::OverallState;

/// Replaces the image that the tray library has set. Must be called on the main thread.
pub(crate) fn paint(icon: &TrayIcon<Wry>, state: OverallState) {
    let painted = icon.with_inner_tray_icon(move |icon| {
        let main_thread = MainThreadMarker::new()?;
        let button = icon.ns_status_item()?.button(main_thread)?;
        button.setImage(Some(&*image(state)?));
        Some(())
    });
    if !matches!(painted, Ok(Some(()))) {
        warn!("cannot set the image of the menu bar icon");
    }
}

fn image(state: OverallState) -> Option<Retained<NSImage>> {
    let size = NSSize::new(POINTS, POINTS);
    let image = NSImage::initWithSize(NSImage::alloc(), size);
    for file in template_files(state) {
        let bitmap = NSBitmapImageRep::imageRepWithData(&NSData::with_bytes(file))?;
        bitmap.setSize(size);
        image.addRepresentation(&bitmap);
    }
    image.setTemplate(true);
    Some(image)
}
