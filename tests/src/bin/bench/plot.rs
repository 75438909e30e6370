//! Draws the plots as SVG, in light and dark colours.

use std::fmt::Write as _;

use crate::figures::{Figure, Results};
use crate::scaling::Curve;

/// The colours of a plot.
pub(crate) struct Theme {
    pub(crate) name: &'static str,
    background: &'static str,
    text: &'static str,
    grid: &'static str,
    /// The colours of the routes, in their order.
    routes: [&'static str; 5],
}

pub(crate) const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        background: "#ffffff",
        text: "#1f2328",
        grid: "#d1d9e0",
        routes: ["#818b98", "#0969da", "#bc4c00", "#8250df", "#1a7f37"],
    },
    Theme {
        name: "dark",
        background: "#0d1117",
        text: "#f0f6fc",
        grid: "#3d444d",
        routes: ["#9198a1", "#4493f8", "#f0883e", "#ab7df8", "#3fb950"],
    },
];

const WIDTH: f64 = 760.0;
/// The largest value of a bar chart is this wide.
const BAR_WIDTH: f64 = 400.0;
const ROW: f64 = 20.0;

/// Bars of one figure per group, one bar per route that has a value.
pub(crate) fn bars(
    theme: &Theme,
    title: &str,
    figures: &[Figure],
    routes: &[&'static str],
    results: &Results,
) -> String {
    let value = |figure: Figure, route: &'static str| results.median(figure, route);
    let all =
        figures.iter().flat_map(|figure| routes.iter().filter_map(|route| value(*figure, route)));
    let largest = all.fold(f64::MIN_POSITIVE, f64::max);
    let (mut body, mut y) = (String::new(), 56.0);
    for figure in figures {
        text(&mut body, theme, (20.0, y), "start", "600", figure.label());
        y += 8.0;
        for (route, colour) in routes.iter().zip(theme.routes) {
            let Some(found) = value(*figure, route) else { continue };
            let width = BAR_WIDTH * found / largest;
            let _ = writeln!(
                body,
                r#"<rect x="170" y="{y}" width="{width:.1}" height="14" rx="2" fill="{colour}"/>"#
            );
            text(&mut body, theme, (160.0, y + 11.0), "end", "400", route);
            text(&mut body, theme, (178.0 + width, y + 11.0), "start", "400", &figure.shown(found));
            y += ROW;
        }
        y += 22.0;
    }
    frame(theme, title, y, &body)
}

/// Four small plots of latency, with logarithmic axes.
pub(crate) fn curves(theme: &Theme, title: &str, curves: &[Curve]) -> String {
    let mut body = String::new();
    for (at, curve) in curves.iter().enumerate() {
        let (x, y) = (60.0 + 370.0 * (at % 2) as f64, 70.0 + 250.0 * (at / 2) as f64);
        small_plot(&mut body, theme, (x, y), curve);
    }
    frame(theme, title, 70.0 + 250.0 * curves.len().div_ceil(2) as f64, &body)
}

fn small_plot(body: &mut String, theme: &Theme, (left, top): (f64, f64), curve: &Curve) {
    let (width, height) = (280.0, 160.0);
    let values = curve.lines.iter().flat_map(|(_, points)| points.iter().map(|(_, value)| *value));
    let (least, most) =
        values.fold((f64::MAX, f64::MIN), |(a, b), value| (a.min(value), b.max(value)));
    let (floor, ceiling) =
        (least.log10().floor(), most.log10().ceil().max(least.log10().floor() + 1.0));
    let y_of = |value: f64| top + height * (1.0 - (value.log10() - floor) / (ceiling - floor));
    let x_of = |step: f64| left + width * step.log10() / 3.0;
    text(body, theme, (left, top - 14.0), "start", "600", &format!("p50 against {}", curve.title));
    for exponent in floor as i32..=ceiling as i32 {
        let (y, value) = (y_of(10_f64.powi(exponent)), 10_f64.powi(exponent));
        line(body, theme.grid, (left, y), (left + width, y), 1.0);
        text(body, theme, (left - 6.0, y + 4.0), "end", "400", &format!("{value} ms"));
    }
    for step in [1.0, 10.0, 100.0, 1000.0] {
        text(body, theme, (x_of(step), top + height + 18.0), "middle", "400", &format!("{step}"));
    }
    for ((name, points), colour) in curve.lines.iter().zip(theme.routes) {
        let place = |(step, value): &(f64, f64)| format!("{:.1},{:.1}", x_of(*step), y_of(*value));
        let path: Vec<String> = points.iter().map(place).collect();
        let _ = writeln!(
            body,
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"#,
            path.join(" ")
        );
        for (step, value) in points {
            let (x, y) = (x_of(*step), y_of(*value));
            let _ = writeln!(body, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{colour}"/>"#);
        }
        if let Some((step, value)) = points.first() {
            // Evermoor lies above the relay.
            let above = if *name == crate::routes::RELAY { 16.0 } else { -8.0 };
            text(body, theme, (x_of(*step) + 6.0, y_of(*value) + above), "start", "400", name);
        }
    }
}

fn frame(theme: &Theme, title: &str, height: f64, body: &str) -> String {
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" font-size="12">
<rect width="{WIDTH}" height="{height}" fill="{}"/>
"#,
        theme.background
    );
    text(&mut svg, theme, (20.0, 26.0), "start", "600", title);
    svg + body + "</svg>\n"
}

fn text(
    into: &mut String,
    theme: &Theme,
    (x, y): (f64, f64),
    anchor: &str,
    weight: &str,
    text: &str,
) {
    let colour = theme.text;
    let _ = writeln!(
        into,
        r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-weight="{weight}" fill="{colour}">{text}</text>"#
    );
}

fn line(into: &mut String, colour: &str, from: (f64, f64), to: (f64, f64), width: f64) {
    let _ = writeln!(
        into,
        r#"<line x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" stroke="{colour}" stroke-width="{width}"/>"#,
        from.0, from.1, to.0, to.1
    );
}
