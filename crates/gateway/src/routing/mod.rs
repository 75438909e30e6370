//! Routes an editor's request to the upstream that answers it, and decides what each editor sees.
//!
//! - [`router`]: finds the upstream for a request
//! - [`view`]: what one editor sees at one URL
//! - [`visibility`]: the merged catalog for each set of filter lists
//!
//! Uses `upstream` and the status in `monitoring`; `mcp` and `server` depend on it.

pub mod editor_view;
pub mod merged_catalogs;
pub mod router;
