//! What lies between the gateway and a server: a proxy that breaks connections, TLS, a CONNECT proxy.

pub mod connect_proxy;
pub mod proxy;
pub mod tls;
