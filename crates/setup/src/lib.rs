//! Connects editors: what each one reads, and edits of its files that hurt nothing else in them.
