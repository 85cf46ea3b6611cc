//! `$filter` of a list of resources: `resourceType eq '…' and tagName eq '…'`. Everything must hold; upper and lower
//! case are the same, except in the values of tags.

use std::collections::BTreeMap;

use crate::odata::{self, Name, equal};
use crate::reply::Refused;

/// What a resource is judged on.
pub(super) struct Judged<'a> {
    pub name: &'a str,
    pub arm_type: &'a str,
    pub group: &'a str,
    pub location: &'a str,
    pub tags: &'a BTreeMap<String, String>,
}

/// What a list is narrowed to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    clauses: Vec<(Subject, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    ResourceType,
    ResourceGroup,
    Name,
    Location,
    TagName,
    TagValue,
}

const NAMES: &[Name<Subject>] = &[
    equal("resourceType", Subject::ResourceType),
    equal("resourceGroup", Subject::ResourceGroup),
    equal("name", Subject::Name),
    equal("location", Subject::Location),
    equal("tagName", Subject::TagName),
    equal("tagValue", Subject::TagValue),
];

impl Filter {
    pub fn parse(text: &str) -> Result<Filter, Refused> {
        let conditions = odata::conditions(text, NAMES)?;
        Ok(Filter { clauses: conditions.into_iter().map(|condition| (condition.key, condition.value)).collect() })
    }

    pub fn admits(&self, resource: &Judged) -> bool {
        let same = |subject: Subject, text: &str| {
            self.clauses.iter().filter(|(of, _)| *of == subject).all(|(_, value)| value.eq_ignore_ascii_case(text))
        };
        same(Subject::ResourceType, resource.arm_type)
            && same(Subject::ResourceGroup, resource.group)
            && same(Subject::Name, resource.name)
            && same(Subject::Location, resource.location)
            && self.admits_tags(resource.tags)
    }

    /// A name and a value must be those of one tag.
    fn admits_tags(&self, tags: &BTreeMap<String, String>) -> bool {
        let wanted = || self.clauses.iter().filter(|(of, _)| matches!(of, Subject::TagName | Subject::TagValue));
        let fits = |name: &str, value: &str| {
            wanted().all(|(of, wanted)| if *of == Subject::TagName { wanted.eq_ignore_ascii_case(name) } else { wanted == value })
        };
        wanted().next().is_none() || tags.iter().any(|(name, value)| fits(name, value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn admits(filter: &str) -> bool {
        let tags = BTreeMap::from([("Row".to_owned(), "7".to_owned()), ("owner".to_owned(), "it's".to_owned())]);
        let arm_type = "Microsoft.NetworkCloud/racks";
        let resource = Judged { name: "rack1", arm_type, group: "g1", location: "local", tags: &tags };
        Filter::parse(filter).expect("the filter is understood").admits(&resource)
    }

    #[test]
    fn everything_must_hold() {
        let fits = [
            "",
            "name eq 'RACK1'",
            "resourceType eq 'microsoft.networkcloud/RACKS' and resourceGroup eq 'G1'",
            "tagName eq 'row' and tagValue eq '7'",
            "tagValue eq 'it''s'",
            "NAME  EQ  'rack1'  AND  location eq 'local'",
            "name eq rack1",
        ];
        assert_eq!(fits.map(admits), [true; 7]);
        let does_not =
            ["name eq 'rack2'", "name eq 'rack1' and location eq 'x'", "tagName eq 'row' and tagValue eq 'it''s'", "tagName eq 'x'"];
        assert_eq!(does_not.map(admits), [false; 4]);
    }

    #[test]
    fn what_is_not_understood_is_not_guessed_at() {
        let nonsense = [
            "name",
            "name eq",
            "name eq 'rack1",
            "name ne 'rack1'",
            "colour eq 'red'",
            "name eq 'a' or name eq 'b'",
            "name eq 'a' and",
            "and",
            "nameeq 'a'",
            "name eq 'a' ü",
        ];
        for text in nonsense {
            assert_eq!(Filter::parse(text).map_err(|refused| refused.code()), Err("InvalidRequestContent"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_value_is_found_again_and_any_text_is_read_without_a_panic(value in ".{0,40}", text in ".{0,60}", mix in "(name|eq|and|'|tagName| |x){0,12}") {
            let quoted = format!("name eq '{}' and tagValue eq 'x'", value.replace('\'', "''"));
            let filter = Filter::parse(&quoted).expect("a quoted value is understood");
            prop_assert_eq!(&filter.clauses[0], &(Subject::Name, value));
            let _ = Filter::parse(&text);
            let _ = Filter::parse(&mix);
        }
    }
}
