//! From the API's JSON to what a person reads. Pure: values in, lines out; nothing here asks or writes.

mod activity;
mod administration;
mod advice;
mod clock;
mod clusters;
mod faults;
mod holds;
mod install_log;
mod inventory;
mod journal;
mod key_sets;
mod layout;
mod machine_sheet;
mod machines;
mod operation_sheet;
mod operations;
mod preview;
mod racks;
mod role;
mod runtimes;
mod sight;
mod status;
mod tenants;
mod validation;
mod vms;
mod waits;

pub use activity::{activity_line, activity_sheet, activity_table};
pub use administration::{
    assignment_table, lock_sheet, lock_table, policy_sheet, policy_table, principal_sheet, principal_table, quota_sheet, quota_table,
    role_table, secret_sheet, secret_table, subscription_state_table, subscription_table,
};
pub use advice::{advice_sheet, advice_table, check_sheet, check_table};
pub use clock::{Clock, span};
pub use clusters::{cluster_sheet, cluster_table};
pub use faults::{fault_kind_table, fault_table, swap_table};
pub use holds::{holds_of, holds_table};
pub use install_log::{install_log, install_log_table};
pub use key_sets::{key_set_sheet, key_set_table};
pub use layout::{Table, facts};
pub use machine_sheet::machine_sheet;
pub use machines::{is_degraded, machine_table, rack_of};
pub use operation_sheet::operation_sheet;
pub use operations::{current_step, is_on, operation_table};
pub use preview::{preview_sheet, preview_table};
pub use racks::{cluster_of, group_of, rack_sheet, rack_table};
pub use role::role;
pub use runtimes::{runtime_sheet, runtime_table};
pub use sight::{doubts, is_bmc_blind};
pub use status::{status_sheet, status_table};
pub use tenants::{pool_sheet, pool_table, tenant_cluster_sheet, tenant_cluster_table};
pub use validation::{failed_fields, validation_sheet, validation_table};
pub use vms::{vm_sheet, vm_table};

#[cfg(test)]
pub mod fixtures;
