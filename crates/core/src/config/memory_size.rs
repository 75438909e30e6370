//! Amounts of memory as text: "800 MB", "2.5 GB".

/// Parses "800 MB" or "2.5 GB". A number without a unit is bytes.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 1.0,
        "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * factor;
    // Less than a byte or more than any machine has is a typo.
    (1.0..1e15).contains(&bytes).then_some(bytes as u64)
}

/// Formats an amount, rounded: "2.6 GB", "812 MB".
pub fn format_bytes(bytes: u64) -> String {
    let bytes = bytes as f64;
    if bytes >= 999.5e6 {
        format!("{:.1} GB", bytes / 1e9)
    } else if bytes >= 999.5e3 {
        format!("{:.0} MB", bytes / 1e6)
    } else {
        format!("{:.0} KB", bytes / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn amounts_are_parsed_as_people_write_them() {
        assert_eq!(parse_bytes("2.5 GB"), Some(2_500_000_000));
        assert_eq!(parse_bytes("800MB"), Some(800_000_000));
        assert_eq!(parse_bytes(" 512 "), Some(512));
        for none in ["", "much", "2.5.1 GB", "0 GB", "-1 GB", "3 GiB", "9e99 GB"] {
            assert_eq!(parse_bytes(none), None, "{none}");
        }
    }

    #[test]
    fn amounts_are_rounded() {
        assert_eq!(format_bytes(2_600_000_000), "2.6 GB");
        assert_eq!(format_bytes(812_345_678), "812 MB");
        assert_eq!(format_bytes(999_900_000), "1.0 GB");
        assert_eq!(format_bytes(4_096), "4 KB");
    }

    proptest! {
        #[test]
        fn a_formatted_amount_parses_to_about_the_same(bytes in 1_000_000_u64..1_000_000_000_000) {
            let again = parse_bytes(&format_bytes(bytes)).unwrap();
            prop_assert!(again.abs_diff(bytes) <= bytes / 15);
        }
    }
}
