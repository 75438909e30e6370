//! From an editor's request to the upstream that answers it, and what each editor may see.

pub mod router;
pub mod view;
pub mod visibility;
