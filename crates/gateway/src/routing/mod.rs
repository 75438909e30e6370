//! Routes an editor's request to the upstream that answers it, and decides what each editor sees.
//!
//! - [`router`]: finds the upstream for a request
//! - [`editor_view`]: what one editor sees at one URL
//! - [`merged_catalogs`]: the merged catalog for each set of filter lists
//!
//! Uses `upstream` and the status in `monitoring`. `mcp`, `monitoring`, `server` and `lifecycle` use
//! it.

pub mod editor_view;
pub mod merged_catalogs;
pub mod router;
