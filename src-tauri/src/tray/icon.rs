//! The images of the tray icon: one shape for each state, readable without colour.

use evermoor_client::Presence;
use evermoor_core::api::OverallState;
use tauri::image::Image;
use tauri::include_image;

/// The background that an image is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each system uses only some of them")]
pub(crate) enum Backdrop {
    /// The system colours a black shape itself.
    Template,
    Light,
    Dark,
    /// Unknown; the image is visible on light and dark.
    Any,
}

/// The state that the icon shows.
pub(crate) fn state(presence: &Presence) -> OverallState {
    match presence {
        Presence::Starting => OverallState::Busy,
        Presence::Serving { status } => status.overall,
        Presence::Lost { .. } => OverallState::Down,
        Presence::Stopped => OverallState::Paused,
    }
}

pub(crate) fn image(state: OverallState, backdrop: Backdrop) -> Image<'static> {
    use Backdrop::{Any, Dark, Light, Template};
    use OverallState::{Busy, Degraded, Down, Healthy, Paused};
    match (state, backdrop) {
        (Healthy, Template) => include_image!("../icons/tray/healthy-template@2x.png"),
        (Healthy, Light) => include_image!("../icons/tray/healthy-light.png"),
        (Healthy, Dark) => include_image!("../icons/tray/healthy-dark.png"),
        (Healthy, Any) => include_image!("../icons/tray/healthy-any.png"),
        (Busy, Template) => include_image!("../icons/tray/busy-template@2x.png"),
        (Busy, Light) => include_image!("../icons/tray/busy-light.png"),
        (Busy, Dark) => include_image!("../icons/tray/busy-dark.png"),
        (Busy, Any) => include_image!("../icons/tray/busy-any.png"),
        (Degraded, Template) => include_image!("../icons/tray/degraded-template@2x.png"),
        (Degraded, Light) => include_image!("../icons/tray/degraded-light.png"),
        (Degraded, Dark) => include_image!("../icons/tray/degraded-dark.png"),
        (Degraded, Any) => include_image!("../icons/tray/degraded-any.png"),
        (Down, Template) => include_image!("../icons/tray/down-template@2x.png"),
        (Down, Light) => include_image!("../icons/tray/down-light.png"),
        (Down, Dark) => include_image!("../icons/tray/down-dark.png"),
        (Down, Any) => include_image!("../icons/tray/down-any.png"),
        (Paused, Template) => include_image!("../icons/tray/paused-template@2x.png"),
        (Paused, Light) => include_image!("../icons/tray/paused-light.png"),
        (Paused, Dark) => include_image!("../icons/tray/paused-dark.png"),
        (Paused, Any) => include_image!("../icons/tray/paused-any.png"),
    }
}

/// The height of an image in macOS's menu bar.
#[allow(dead_code, reason = "only macOS draws templates")]
pub(crate) const POINTS: f64 = 18.0;

/// The files of a template: one pixel for each point, and two.
#[allow(dead_code, reason = "only macOS draws templates")]
pub(crate) fn template_files(state: OverallState) -> [&'static [u8]; 2] {
    macro_rules! files {
        ($name:literal) => {
            [
                include_bytes!(concat!("../../../icons/tray/", $name, "-template.png")).as_slice(),
                include_bytes!(concat!("../../../icons/tray/", $name, "-template@2x.png"))
                    .as_slice(),
            ]
        };
    }
    match state {
        OverallState::Healthy => files!("healthy"),
        OverallState::Busy => files!("busy"),
        OverallState::Degraded => files!("degraded"),
        OverallState::Down => files!("down"),
        OverallState::Paused => files!("paused"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [OverallState; 5] = [
        OverallState::Healthy,
        OverallState::Busy,
        OverallState::Degraded,
        OverallState::Down,
        OverallState::Paused,
    ];

    /// Which pixels are opaque, whatever their colour.
    fn silhouette(image: &Image<'_>) -> Vec<bool> {
        image.rgba().chunks_exact(4).map(|pixel| pixel[3] > 127).collect()
    }

    fn brightness(image: &Image<'_>) -> u32 {
        let painted = || image.rgba().chunks_exact(4).filter(|pixel| pixel[3] > 127);
        let sum: u32 =
            painted().map(|pixel| pixel[..3].iter().map(|&c| u32::from(c)).sum::<u32>()).sum();
        sum / (3 * painted().count() as u32)
    }

    #[test]
    fn each_state_has_a_shape_of_its_own() {
        for backdrop in [Backdrop::Template, Backdrop::Light, Backdrop::Dark, Backdrop::Any] {
            let shapes = STATES.map(|state| silhouette(&image(state, backdrop)));
            for (n, shape) in shapes.iter().enumerate() {
                assert!(shape.contains(&true), "{:?} is empty", STATES[n]);
                assert!(!shapes[..n].contains(shape), "{:?} looks like another state", STATES[n]);
            }
        }
    }

    #[test]
    fn the_shape_stands_out_from_its_backdrop() {
        for state in STATES {
            assert_eq!(brightness(&image(state, Backdrop::Template)), 0, "{state:?}");
            assert!(brightness(&image(state, Backdrop::Light)) < 60, "{state:?}");
            assert!(brightness(&image(state, Backdrop::Dark)) > 200, "{state:?}");
            assert!((110..170).contains(&brightness(&image(state, Backdrop::Any))), "{state:?}");
        }
    }

    /// The width and the height in the header of a PNG file.
    fn size(file: &[u8]) -> (u32, u32) {
        let number = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
        (number(16), number(20))
    }

    #[test]
    fn a_template_has_a_whole_number_of_pixels_for_each_point() {
        for state in STATES {
            assert_eq!(template_files(state).map(size), [(18, 18), (36, 36)], "{state:?}");
        }
        assert_eq!(POINTS, 18.0);
    }

    #[test]
    fn a_template_is_sharp() {
        for state in STATES {
            let image = image(state, Backdrop::Template);
            let alphas = || image.rgba().chunks_exact(4).map(|pixel| pixel[3]);
            // Neither empty nor full: at an edge, or blurred.
            let soft = alphas().filter(|alpha| (32..224).contains(alpha)).count();
            let painted = alphas().filter(|alpha| *alpha > 31).count();
            assert!(soft * 100 < painted * 45, "{state:?}: {soft} of {painted} pixels are soft");
        }
    }
}
