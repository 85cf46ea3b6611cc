//! Replace: what it does beside installing a machine; and the inspection of a site, advice and post-checks.

mod advice;
mod blind;
mod cancel;
mod crash;
mod disks;
mod identity;
mod inspect;
mod login;
mod named_disks;
mod stage;
mod steps;
mod storage;
mod tried;
mod verify;
mod verify_workloads;
mod volumes;
