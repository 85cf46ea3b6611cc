//! The accounts of a BMC: a few slots, some of them taken by others from the beginning.

use std::collections::BTreeMap;

use model::{AccountSeen, Delivery, DeviceAsk, Fault, FaultClass};
use plan::{Step, With};

#[derive(Clone, Debug, PartialEq)]
pub struct Accounts {
    /// By user: the role, and the keys.
    pub users: BTreeMap<String, (String, Vec<String>)>,
    pub slots: usize,
    pub has_keys: bool,
    /// How often an account was made.
    pub made: u32,
}

impl Default for Accounts {
    fn default() -> Self {
        let users = BTreeMap::from([("root".to_owned(), ("Administrator".to_owned(), Vec::new()))]);
        Accounts { users, slots: 16, has_keys: true, made: 0 }
    }
}

impl Accounts {
    pub fn refusal(&self, step: &Step) -> Option<Fault> {
        let With::Account { user, .. } = &step.with else { return None };
        let is_full = step.ask == DeviceAsk::WriteAccount && !self.users.contains_key(user) && self.users.len() >= self.slots;
        is_full.then(|| Fault::new(FaultClass::Unsupported, Delivery::No, "it has no empty slot for another account"))
    }

    pub fn take(&mut self, step: &Step) {
        let With::Account { user, privilege, key, path } = &step.with else { return };
        match step.ask {
            DeviceAsk::WriteAccount => {
                let privilege = privilege.as_ref().expect("an account has a privilege");
                let key = key.clone().expect("an account has a key");
                assert_eq!(path.is_some(), self.users.contains_key(user), "{user}: it was looked before it was asked");
                let made = self.users.insert(user.clone(), (privilege.level().to_owned(), vec![key])).is_none();
                self.made += u32::from(made);
            }
            DeviceAsk::DropAccount => {
                assert_ne!(user, "root", "our own login is removed");
                assert!(self.users.remove(user).is_some(), "{user} is removed twice");
            }
            _ => {}
        }
    }

    pub fn seen(&self) -> Vec<AccountSeen> {
        let seen = self.users.iter().map(|(user, (role, keys))| AccountSeen {
            slot: format!("/Accounts/{user}"),
            user: user.clone(),
            role: role.clone(),
            enabled: true,
            keys: self.has_keys.then(|| keys.clone()),
        });
        seen.collect()
    }
}
