//! A run of everything at once, held against the ledger.
