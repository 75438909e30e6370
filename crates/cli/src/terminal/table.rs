//! Columns and paragraphs that fit the terminal. What others wrote stays in its cell or its
//! paragraph.

use evermoor_core::security::foreign_text::line;

/// The space between two columns.
const GAP: usize = 3;
/// Columns are not made narrower than this as long as others can be.
const LEAST: usize = 8;

/// Lays out rows as columns, each as wide as its widest cell. If a line would be wider than `width`,
/// the widest columns are cut first.
pub(crate) fn columns(rows: &[Vec<String>], width: usize) -> Vec<String> {
    let one_line = |cell: &String| line(cell).into_owned();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(one_line).collect()).collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..count).map(widest).collect();
    shrink(&mut widths, width);
    let laid_out = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).filter(|(_, width)| **width > 0);
        let cells = cells.map(|(cell, width)| format!("{:<width$}", fit(cell, *width)));
        cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    rows.iter().map(laid_out).collect()
}

/// Makes columns fit: first cuts the widest, then drops the last ones.
fn shrink(widths: &mut [usize], width: usize) {
    let total = |widths: &[usize]| {
        let shown = widths.iter().filter(|width| **width > 0);
        shown.map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
    };
    while total(widths) > width {
        let over = total(widths) - width;
        let Some(widest) = widths.iter().skip(1).max().copied().filter(|widest| *widest > LEAST)
        else {
            break;
        };
        // Cut the last of the widest, because the first columns matter most.
        let at = widths.iter().rposition(|found| *found == widest).unwrap_or(0);
        let next = widths.iter().skip(1).filter(|found| **found < widest).max().copied();
        let floor = next.unwrap_or(LEAST).max(LEAST);
        widths[at] = widest.saturating_sub(over).max(floor.min(widest - 1)).max(LEAST);
    }
    while total(widths) > width {
        match widths.iter().skip(1).rposition(|found| *found > 0) {
            Some(at) => widths[at + 1] = 0,
            None => break,
        }
    }
    let too_wide = total(widths) > width;
    if let Some(first) = widths.first_mut().filter(|_| too_wide) {
        *first = width;
    }
}

/// Cuts a text to `width` characters and marks the cut with `…`.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    if width == 0 { String::new() } else { format!("{}…", kept.trim_end()) }
}

/// Breaks a text into lines of at most `width` characters, between words.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in line(text).split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// A paragraph that begins `indent` characters from the left, in lines of at most `width`.
pub(crate) fn indented(text: &str, indent: usize, width: usize) -> String {
    let lines = wrap(text, width.saturating_sub(indent).max(LEAST));
    let lines = lines.iter().map(|line| format!("{}{line}", " ".repeat(indent)));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        vec![
            row(["notes", "Connected", "12 tools", "http://127.0.0.1:3001/mcp"]),
            row(["a-very-long-name", "Not running", "1 tool", "npx -y server"]),
        ]
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["a".into(), "Connected".into()], vec!["long".into(), "Down".into()]];
        assert_eq!(columns(&rows, usize::MAX), ["a      Connected", "long   Down"]);
    }

    #[test]
    fn a_cell_stays_one_line_without_control_characters() {
        let rows = vec![vec!["a\nb".into(), "\x1b[2Jc\x1b]0;d\x07".into()]];
        assert_eq!(columns(&rows, usize::MAX), ["a b   c\u{fffd}]0;d\u{fffd}"]);
        assert_eq!(wrap("one\x1b[31m two\u{202e}", 80), ["one two\u{fffd}"]);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 1..120 {
            for line in columns(&rows(), width) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn a_cut_is_marked_and_the_name_stays() {
        assert_eq!(
            columns(&rows(), 60),
            [
                "notes              Connected     12 tools   http://127.0.0.…",
                "a-very-long-name   Not running   1 tool     npx -y server"
            ]
        );
        assert_eq!(columns(&rows(), 30)[1], "a-very-long-name   Not run…");
    }

    #[test]
    fn a_long_text_is_wrapped_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(indented("one two three", 2, 10), "  one two\n  three");
    }
}
