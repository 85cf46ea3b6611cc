//! The driver against what real members of etcd answer, word for word, as it was recorded from etcd 3.5.1 and 3.4.23.

mod calls;
mod fake;
mod tls;
mod turns;
