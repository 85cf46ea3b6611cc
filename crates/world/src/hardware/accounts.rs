//! Who may log in to a BMC, and as what.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How many accounts a BMC holds.
pub const ACCOUNT_SLOTS: u8 = 16;

/// What Dell's and HPE's BMCs take for a user name.
pub const USER_NAME_LENGTH_MAX: usize = 39;

pub const PASSWORD_LENGTH_MIN: usize = 8;

/// IPMI's limit was 20; Redfish services take more.
pub const PASSWORD_LENGTH_MAX: usize = 40;

/// Redfish's predefined roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AccountRole {
    Administrator,
    Operator,
    ReadOnly,
}

impl AccountRole {
    pub const ALL: [AccountRole; 3] = [AccountRole::Administrator, AccountRole::Operator, AccountRole::ReadOnly];

    pub fn as_str(self) -> &'static str {
        match self {
            AccountRole::Administrator => "Administrator",
            AccountRole::Operator => "Operator",
            AccountRole::ReadOnly => "ReadOnly",
        }
    }
}

impl FromStr for AccountRole {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        AccountRole::ALL.into_iter().find(|role| role.as_str() == text).ok_or(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standing {
    Enabled,
    Disabled,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Counts from 1.
    pub slot: u8,
    pub user: String,
    pub password: String,
    pub role: AccountRole,
    pub standing: Standing,
    /// What opens it over SSH.
    #[serde(default)]
    pub keys: Vec<AccountKey>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountKey {
    pub number: u32,
    pub text: String,
}

/// How many keys an account takes, as HPE's and Dell's do.
pub const ACCOUNT_KEYS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRefusal {
    Full,
    /// It is no public key of SSH.
    Text,
    NoSuchAccount,
}

/// Debug output ends up in logs; a password does not belong there.
impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Account { slot, user, role, standing, .. } = self;
        write!(f, "Account({slot} {user} {role:?} {standing:?})")
    }
}

impl fmt::Debug for AccountChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AccountChange { user, password, role, standing } = self;
        let password = password.as_ref().map(|_| "…");
        write!(f, "AccountChange({user:?} {password:?} {role:?} {standing:?})")
    }
}

/// What somebody wants to change about an account; `None` leaves it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct AccountChange {
    pub user: Option<String>,
    pub password: Option<String>,
    pub role: Option<AccountRole>,
    pub standing: Option<Standing>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountRefusal {
    Full,
    NameTaken,
    Name,
    Password,
    NoSuchAccount,
    /// Nobody could ever change anything again.
    LastAdministrator,
}

impl fmt::Display for AccountRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccountRefusal::Full => write!(f, "all {ACCOUNT_SLOTS} accounts are taken"),
            AccountRefusal::NameTaken => f.write_str("another account has this user name"),
            AccountRefusal::Name => write!(f, "a user name has 1 to {USER_NAME_LENGTH_MAX} printable characters and no colon"),
            AccountRefusal::Password => write!(f, "a password has {PASSWORD_LENGTH_MIN} to {PASSWORD_LENGTH_MAX} characters"),
            AccountRefusal::NoSuchAccount => f.write_str("there is no such account"),
            AccountRefusal::LastAdministrator => f.write_str("the last enabled administrator cannot be removed, disabled or demoted"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounts {
    list: Vec<Account>,
}

impl Accounts {
    pub(crate) fn factory(slot: u8, user: &str, password: &str) -> Accounts {
        let (user, password) = (user.to_owned(), password.to_owned());
        let (role, standing) = (AccountRole::Administrator, Standing::Enabled);
        Accounts { list: vec![Account { slot, user, password, role, standing, keys: Vec::new() }] }
    }

    /// In the order of their slots.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Account> {
        self.list.iter()
    }

    pub fn get(&self, slot: u8) -> Option<&Account> {
        self.list.iter().find(|account| account.slot == slot)
    }

    /// The account that this user name and password open.
    pub fn log_in(&self, user: &str, password: &str) -> Option<&Account> {
        let account = self.list.iter().find(|account| account.user == user)?;
        (account.standing == Standing::Enabled && account.password == password).then_some(account)
    }

    pub(crate) fn create(&mut self, user: String, password: String, role: AccountRole, standing: Standing) -> Result<u8, AccountRefusal> {
        check_name(&user)?;
        check_password(&password)?;
        if self.list.iter().any(|account| account.user == user) {
            return Err(AccountRefusal::NameTaken);
        }
        let slot = (1..=ACCOUNT_SLOTS).find(|slot| self.get(*slot).is_none()).ok_or(AccountRefusal::Full)?;
        self.list.push(Account { slot, user, password, role, standing, keys: Vec::new() });
        self.list.sort_by_key(|account| account.slot);
        Ok(slot)
    }

    /// All or nothing.
    pub(crate) fn change(&mut self, slot: u8, change: AccountChange) -> Result<(), AccountRefusal> {
        let mut account = self.get(slot).cloned().ok_or(AccountRefusal::NoSuchAccount)?;
        if let Some(user) = change.user {
            check_name(&user)?;
            if self.list.iter().any(|other| other.slot != slot && other.user == user) {
                return Err(AccountRefusal::NameTaken);
            }
            account.user = user;
        }
        if let Some(password) = change.password {
            check_password(&password)?;
            account.password = password;
        }
        account.role = change.role.unwrap_or(account.role);
        account.standing = change.standing.unwrap_or(account.standing);
        if !is_administrator(&account) {
            self.keep_an_administrator_beside(slot)?;
        }
        if let Some(place) = self.list.iter_mut().find(|other| other.slot == slot) {
            *place = account;
        }
        Ok(())
    }

    pub(crate) fn delete(&mut self, slot: u8) -> Result<Account, AccountRefusal> {
        let position = self.list.iter().position(|account| account.slot == slot).ok_or(AccountRefusal::NoSuchAccount)?;
        self.keep_an_administrator_beside(slot)?;
        Ok(self.list.remove(position))
    }

    pub(crate) fn add_key(&mut self, slot: u8, text: String) -> Result<AccountKey, KeyRefusal> {
        let account = self.list.iter_mut().find(|account| account.slot == slot).ok_or(KeyRefusal::NoSuchAccount)?;
        let is_key =
            text.split(' ').next().is_some_and(|kind| kind.starts_with("ssh-") || kind.starts_with("ecdsa-") || kind.starts_with("sk-"));
        if !is_key || text.split(' ').nth(1).is_none() {
            return Err(KeyRefusal::Text);
        }
        if account.keys.len() >= ACCOUNT_KEYS {
            return Err(KeyRefusal::Full);
        }
        let number = account.keys.iter().map(|key| key.number).max().unwrap_or_default() + 1;
        let key = AccountKey { number, text };
        account.keys.push(key.clone());
        Ok(key)
    }

    /// Whether there was such a key.
    pub(crate) fn remove_key(&mut self, slot: u8, number: u32) -> bool {
        let Some(account) = self.list.iter_mut().find(|account| account.slot == slot) else { return false };
        let before = account.keys.len();
        account.keys.retain(|key| key.number != number);
        account.keys.len() < before
    }

    fn keep_an_administrator_beside(&self, slot: u8) -> Result<(), AccountRefusal> {
        let others = self.list.iter().filter(|account| account.slot != slot);
        if others.into_iter().any(is_administrator) { Ok(()) } else { Err(AccountRefusal::LastAdministrator) }
    }
}

fn is_administrator(account: &Account) -> bool {
    account.role == AccountRole::Administrator && account.standing == Standing::Enabled
}

/// A colon would end the user name in basic authentication.
fn check_name(user: &str) -> Result<(), AccountRefusal> {
    let is_usable = (1..=USER_NAME_LENGTH_MAX).contains(&user.len()) && user.chars().all(|c| c.is_ascii_graphic() && c != ':');
    if is_usable { Ok(()) } else { Err(AccountRefusal::Name) }
}

fn check_password(password: &str) -> Result<(), AccountRefusal> {
    if (PASSWORD_LENGTH_MIN..=PASSWORD_LENGTH_MAX).contains(&password.len()) { Ok(()) } else { Err(AccountRefusal::Password) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(accounts: &mut Accounts, user: &str, password: &str) -> Result<u8, AccountRefusal> {
        accounts.create(user.to_owned(), password.to_owned(), AccountRole::Operator, Standing::Enabled)
    }

    #[test]
    fn accounts_take_the_first_free_slot_until_all_are_taken() {
        let mut accounts = Accounts::factory(2, "root", "calvincalvin");
        let slots: Vec<u8> = (0..15).map(|n| create(&mut accounts, &format!("user{n}"), "password").unwrap()).collect();
        assert_eq!(slots[..3], [1, 3, 4]);
        assert_eq!(create(&mut accounts, "one-more", "password"), Err(AccountRefusal::Full));
    }

    #[test]
    fn names_and_passwords_have_limits() {
        let mut accounts = Accounts::factory(1, "root", "calvincalvin");
        assert_eq!(create(&mut accounts, "root", "password"), Err(AccountRefusal::NameTaken));
        assert_eq!(create(&mut accounts, "", "password"), Err(AccountRefusal::Name));
        assert_eq!(create(&mut accounts, "a:b", "password"), Err(AccountRefusal::Name));
        assert_eq!(create(&mut accounts, &"x".repeat(40), "password"), Err(AccountRefusal::Name));
        assert_eq!(create(&mut accounts, "operator", "short"), Err(AccountRefusal::Password));
        assert_eq!(create(&mut accounts, "operator", &"x".repeat(41)), Err(AccountRefusal::Password));
        assert_eq!(accounts.iter().len(), 1);
    }

    #[test]
    fn an_account_takes_a_few_keys_and_nothing_else() {
        let mut accounts = Accounts::factory(1, "root", "calvincalvin");
        for number in 1..=4 {
            assert_eq!(accounts.add_key(1, "ssh-ed25519 AAAA".into()).unwrap().number, number);
        }
        assert_eq!(accounts.add_key(1, "ssh-ed25519 AAAA".into()), Err(KeyRefusal::Full));
        assert_eq!(accounts.add_key(1, "hello".into()), Err(KeyRefusal::Text));
        assert_eq!(accounts.add_key(2, "ssh-ed25519 AAAA".into()), Err(KeyRefusal::NoSuchAccount));
        assert!(accounts.remove_key(1, 2) && !accounts.remove_key(1, 2));
        assert_eq!(accounts.add_key(1, "ssh-rsa AAAA".into()).unwrap().number, 5);
    }

    #[test]
    fn somebody_can_always_administer() {
        let mut accounts = Accounts::factory(1, "root", "calvincalvin");
        assert_eq!(accounts.delete(1), Err(AccountRefusal::LastAdministrator));
        let disable = AccountChange { standing: Some(Standing::Disabled), ..AccountChange::default() };
        assert_eq!(accounts.change(1, disable.clone()), Err(AccountRefusal::LastAdministrator));
        let second = create(&mut accounts, "second", "password").unwrap();
        let promote = AccountChange { role: Some(AccountRole::Administrator), ..AccountChange::default() };
        accounts.change(second, promote).unwrap();
        accounts.change(1, disable).unwrap();
        assert!(accounts.log_in("root", "calvincalvin").is_none());
        assert!(accounts.log_in("second", "password").is_some());
    }
}
