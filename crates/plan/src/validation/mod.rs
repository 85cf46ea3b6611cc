//! Hardware validation: what a BMC tells of its machine is compared with what the machine should be, field by field.
//!
//! A check that the BMC cannot answer is told as such and never passes. The machine is recognized by its present identity, or by that
//! which a replace brings; never by what an older description said.

mod boot;
mod drives;
mod health;
mod network;
mod sheet;
mod system;
#[cfg(test)]
mod tests;

use model::{Bundle, Category, CategoryResult, Comparison, Fault, FaultClass, Hardware, Inspection, Sku, Timestamp, ValidationResult};

use sheet::Sheet;

/// What a machine should be.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// Nothing where the site does not say what machines of its kind are made of: then parts are told and not judged.
    pub sku: Option<&'a Sku>,
    /// Its serial number and MAC addresses count.
    pub hardware: &'a Hardware,
    /// Whose minimum firmware it must have.
    pub bundle: Option<&'a Bundle>,
    /// Whether it is on. Links of one that is off are down, and prove nothing.
    pub is_on: bool,
    /// Whether it was switched on to be validated, and came up.
    pub was_switched_on: bool,
    pub now: Timestamp,
}

/// Every category, in the order in which people read them. Whoever could inspect has logged in.
pub fn validate(expected: &Expected<'_>, inspection: &Inspection) -> Vec<CategoryResult> {
    let mut login = Sheet::new(Category::DeviceLogin);
    login.tell("device_login", Comparison::Pass, "Success", "Success");
    vec![
        login.judged(),
        system::judge(expected, inspection),
        drives::judge(expected, inspection),
        network::judge(expected, inspection),
        health::judge(expected, inspection),
        boot::judge(expected, inspection),
    ]
}

/// The one category that there is if the BMC did not let us in.
pub fn login_failed(fault: &Fault) -> Vec<CategoryResult> {
    let mut login = Sheet::new(Category::DeviceLogin);
    login.tell("device_login", Comparison::Fail, "Success", login_word(fault.class));
    login.log(fault.to_string());
    vec![login.judged()]
}

fn login_word(class: FaultClass) -> &'static str {
    match class {
        FaultClass::Denied | FaultClass::NoLogin => "Fail - Unauthorized",
        FaultClass::Untrusted => "Fail - Untrusted",
        _ => "Fail - Unreachable",
    }
}

/// What failed, one line for each category: `Networking test(s) failed: [NIC.1_LinkStatus] expected: Up; observed: Down; …`.
pub fn failures(categories: &[CategoryResult]) -> Vec<String> {
    let failed = categories.iter().filter(|category| category.result == ValidationResult::Fail);
    failed.map(failure).collect()
}

fn failure(category: &CategoryResult) -> String {
    let fields = category.fields.iter().filter(|field| field.comparison == Comparison::Fail);
    let mut told: Vec<String> =
        fields.map(|field| format!("[{}] expected: {}; observed: {}", field.name, field.expected, or_nothing(&field.fetched))).collect();
    if !category.log.is_empty() {
        told.push(format!("[Additional logs: {}]", category.log.join("; ")));
    }
    format!("{} test(s) failed: {}", title(category.category), told.join("; "))
}

fn or_nothing(fetched: &str) -> &str {
    if fetched.is_empty() { "nothing" } else { fetched }
}

fn title(category: Category) -> &'static str {
    match category {
        Category::DeviceLogin => "BMC login",
        Category::SystemInfo => "System",
        Category::DriveInfo => "Drive",
        Category::NetworkInfo => "Networking",
        Category::HealthInfo => "System health",
        Category::BootInfo => "Boot",
    }
}
