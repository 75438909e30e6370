//! The dashboard is carried in the binary, so a new dashboard means a new binary.

fn main() {
    println!("cargo:rerun-if-changed=../../ui/dist");
}
