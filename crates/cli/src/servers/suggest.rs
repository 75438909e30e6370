//! "Did you mean": finds the name that is closest to a mistyped one.

/// The closest of these names, if it is close enough.
pub(crate) fn closest<'a>(
    typed: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let near = |name: &&str| {
        let name = name.to_lowercase();
        let most = name.chars().count().max(typed.chars().count());
        let apart = distance(&typed, &name);
        // People often type only a part of a long name.
        let part = typed.len() >= 3 && name.contains(&typed);
        (part || apart * 3 <= most).then_some(if part { 0 } else { apart })
    };
    let found = names.into_iter().filter_map(|name| Some((near(&name)?, name)));
    found.min_by_key(|(apart, name)| (*apart, name.len())).map(|(_, name)| name)
}

/// The sentence after "There is no …".
pub(crate) fn sentence(closest: Option<&str>, otherwise: &str) -> String {
    match closest {
        Some(name) => format!("Did you mean `{name}`?"),
        None => otherwise.to_owned(),
    }
}

/// The number of characters to change, insert, delete or swap with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows = vec![(0..=other.len()).collect::<Vec<usize>>()];
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, wanted) in other.iter().enumerate() {
            let above = &rows[row];
            let mut least = (above[column] + usize::from(letter != wanted))
                .min(above[column + 1] + 1)
                .min(next[column] + 1);
            let swapped = row > 0 && column > 0 && one[row - 1] == *wanted;
            if swapped && other[column - 1] == *letter {
                least = least.min(rows[row - 1][column - 1] + 1);
            }
            next.push(least);
        }
        rows.push(next);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_recognised_and_a_different_word_is_not() {
        let names = ["notes", "github", "pieces-os"];
        let found = |typed| closest(typed, names);
        assert_eq!(found("ntoes"), Some("notes"));
        assert_eq!(found("GitHub"), Some("github"));
        assert_eq!(found("pieces"), Some("pieces-os"));
        assert_eq!(found("xyz"), None);
        assert_eq!(closest("a", []), None);
    }

    #[test]
    fn a_distance_counts_edits() {
        assert_eq!((distance("abc", "abc"), distance("ab", "ba"), distance("", "abc")), (0, 1, 3));
    }
}
