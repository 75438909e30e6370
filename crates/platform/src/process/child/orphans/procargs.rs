//! Reads a variable of another process from what macOS keeps of its arguments (`KERN_PROCARGS2`): the
//! number of arguments, the path of the program, the arguments and the environment, each ending in a zero
//! byte, with more zero bytes after the path.

#![cfg_attr(
    not(target_os = "macos"),
    allow(dead_code, reason = "used on one system, tested on all")
)]

/// The value of an environment variable.
pub(super) fn variable(block: &[u8], name: &str) -> Option<String> {
    let (count, rest) = block.split_first_chunk::<4>()?;
    let arguments = usize::try_from(i32::from_ne_bytes(*count)).ok()?;
    let path = rest.iter().position(|byte| *byte == 0)?;
    let padding = rest[path..].iter().position(|byte| *byte != 0)?;
    let texts = rest[path + padding..].split(|byte| *byte == 0);
    // An empty text ends the environment.
    let mut variables = texts.skip(arguments).take_while(|text| !text.is_empty());
    variables.find_map(|text| {
        let value = text.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        String::from_utf8(value.to_vec()).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block as the kernel writes it.
    fn block(count: i32, texts: &[&str]) -> Vec<u8> {
        let mut block = count.to_ne_bytes().to_vec();
        block.extend_from_slice(b"/usr/local/bin/node\0\0\0\0\0");
        for text in texts {
            block.extend_from_slice(text.as_bytes());
            block.push(0);
        }
        block.extend_from_slice(b"\0executable_path=/x\0");
        block
    }

    #[test]
    fn a_variable_is_found_after_the_arguments() {
        let block = block(3, &["node", "", "MARK=argument", "HOME=/Users/a", "MARK=1.2.3"]);
        assert_eq!(variable(&block, "MARK").as_deref(), Some("1.2.3"));
        assert_eq!(variable(&block, "HOME").as_deref(), Some("/Users/a"));
        assert_eq!(variable(&block, "MAR"), None);
        assert_eq!(variable(&block, "executable_path"), None, "that is not of the environment");
    }

    #[test]
    fn a_block_that_is_cut_off_has_no_variables() {
        let whole = block(1, &["node", "MARK=1.2.3"]);
        for length in 0..whole.len() {
            let found = variable(&whole[..length], "MARK");
            assert!(found.is_none_or(|value| "1.2.3".starts_with(&value)));
        }
        assert_eq!(variable(&block(-1, &["MARK=1"]), "MARK"), None);
        assert_eq!(variable(&block(i32::MAX, &["MARK=1"]), "MARK"), None);
    }
}
