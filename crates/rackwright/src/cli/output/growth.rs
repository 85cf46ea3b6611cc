//! What an expression could do before it is let loose: how much larger it can make its input, which functions it
//! calls, and which fields it names.

use std::collections::BTreeSet;

use jmespath::DEFAULT_RUNTIME;
use jmespath::ast::{Ast, KeyValuePair};

use crate::cli::did_you_mean::nearest_hint;

/// How many copies of its input an expression may make. `[@,@]|[@,@]|…` doubles it with every part; what people write
/// stays below a hundred.
pub const GROWTH_MAX: u64 = 100_000;

/// Indexes and steps up to this. The evaluator adds two of them in 32 bits.
pub const INDEX_MAX: i32 = 1_000_000_000;

/// A part of an expression that is not let loose, and where it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Objection {
    pub offset: usize,
    pub message: String,
    pub hint: Option<String>,
}

/// Judges a whole expression.
pub fn object(expression: &Ast) -> Result<(), Objection> {
    let growth = growth(expression)?;
    if growth <= GROWTH_MAX {
        return Ok(());
    }
    let message = format!("it could make the answer more than {GROWTH_MAX} times as large");
    Err(Objection { offset: 0, message, hint: None })
}

/// How many times as large as its input the result of an expression can be.
fn growth(node: &Ast) -> Result<u64, Objection> {
    Ok(match node {
        Ast::Identity { .. } | Ast::Field { .. } | Ast::Literal { .. } => 1,
        Ast::Index { offset, idx } => within(*offset, [Some(*idx)])?,
        Ast::Slice { offset, start, stop, step } => within(*offset, [*start, *stop, Some(*step)])?,
        Ast::Not { node, .. } | Ast::Flatten { node, .. } | Ast::ObjectValues { node, .. } | Ast::Expref { ast: node, .. } => growth(node)?,
        Ast::Subexpr { lhs, rhs, .. } | Ast::Projection { lhs, rhs, .. } => growth(lhs)?.saturating_mul(growth(rhs)?),
        Ast::Condition { predicate, then, .. } => growth(predicate)?.max(growth(then)?),
        Ast::And { lhs, rhs, .. } | Ast::Or { lhs, rhs, .. } | Ast::Comparison { lhs, rhs, .. } => {
            growth(lhs)?.saturating_add(growth(rhs)?)
        }
        Ast::MultiList { elements, .. } => sum(elements.iter())?,
        Ast::MultiHash { elements, .. } => sum(values(elements))?,
        Ast::Function { offset, name, args } => call(*offset, name, args)?,
    })
}

fn sum<'a>(nodes: impl Iterator<Item = &'a Ast>) -> Result<u64, Objection> {
    nodes.map(growth).try_fold(0, |sum: u64, next| Ok(sum.saturating_add(next?)))
}

fn values(elements: &[KeyValuePair]) -> impl Iterator<Item = &Ast> {
    elements.iter().map(|pair| &pair.value)
}

/// An argument that is an expression is applied to what another argument yields.
fn call(offset: usize, name: &str, args: &[Ast]) -> Result<u64, Objection> {
    if DEFAULT_RUNTIME.get_function(name).is_none() {
        return Err(unknown_function(offset, name));
    }
    let each = args.iter().map(growth).collect::<Result<Vec<u64>, Objection>>()?;
    let product = each.iter().fold(1, |product: u64, next| product.saturating_mul(*next));
    let sum = each.iter().fold(0, |sum: u64, next| sum.saturating_add(*next));
    let arguments = product.max(sum);
    let own = match name {
        // What is quoted within a quotation is escaped anew.
        "to_string" => 2,
        // The glue is written between all items.
        "join" => 30,
        _ => 1,
    };
    Ok(arguments.saturating_mul(own))
}

/// The functions of the JMESPath specification, for whoever mistypes one.
const FUNCTIONS: [&str; 26] = [
    "abs",
    "avg",
    "ceil",
    "contains",
    "ends_with",
    "floor",
    "join",
    "keys",
    "length",
    "map",
    "max",
    "max_by",
    "merge",
    "min",
    "min_by",
    "not_null",
    "reverse",
    "sort",
    "sort_by",
    "starts_with",
    "sum",
    "to_array",
    "to_number",
    "to_string",
    "type",
    "values",
];

fn unknown_function(offset: usize, name: &str) -> Objection {
    let hint = nearest_hint(name, FUNCTIONS, "https://jmespath.org/specification.html#functions");
    Objection { offset, message: format!("there is no function `{name}`"), hint: Some(hint) }
}

fn within(offset: usize, numbers: impl IntoIterator<Item = Option<i32>>) -> Result<u64, Objection> {
    let too_far = numbers.into_iter().flatten().any(|number| number.unsigned_abs() > INDEX_MAX.unsigned_abs());
    if too_far {
        return Err(Objection { offset, message: format!("an index is at most {INDEX_MAX}"), hint: None });
    }
    Ok(1)
}

/// The names of the columns in the order in which the expression writes them, if it ends in an object of its own.
pub fn columns(node: &Ast) -> Vec<String> {
    match node {
        Ast::MultiHash { elements, .. } => elements.iter().map(|pair| pair.key.clone()).collect(),
        Ast::Subexpr { lhs, rhs, .. } | Ast::Projection { lhs, rhs, .. } => {
            let columns_of_last = columns(rhs);
            if columns_of_last.is_empty() { columns(lhs) } else { columns_of_last }
        }
        Ast::Condition { then, .. } => columns(then),
        Ast::Flatten { node, .. } => columns(node),
        Ast::Function { args, .. } => args.first().map(columns).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The fields that an expression reads, and those that it makes itself.
#[derive(Debug, Default)]
pub struct Fields {
    pub read: BTreeSet<String>,
    pub made: BTreeSet<String>,
}

impl Fields {
    pub fn of(expression: &Ast) -> Fields {
        let mut fields = Fields::default();
        fields.collect(expression);
        fields
    }

    fn collect(&mut self, node: &Ast) {
        match node {
            Ast::Field { name, .. } => {
                self.read.insert(name.clone());
            }
            Ast::Identity { .. } | Ast::Literal { .. } | Ast::Index { .. } | Ast::Slice { .. } => {}
            Ast::Not { node, .. } | Ast::Flatten { node, .. } | Ast::ObjectValues { node, .. } | Ast::Expref { ast: node, .. } => {
                self.collect(node);
            }
            Ast::Subexpr { lhs, rhs, .. }
            | Ast::Projection { lhs, rhs, .. }
            | Ast::And { lhs, rhs, .. }
            | Ast::Or { lhs, rhs, .. }
            | Ast::Comparison { lhs, rhs, .. }
            | Ast::Condition { predicate: lhs, then: rhs, .. } => {
                self.collect(lhs);
                self.collect(rhs);
            }
            Ast::MultiList { elements: nodes, .. } | Ast::Function { args: nodes, .. } => nodes.iter().for_each(|node| self.collect(node)),
            Ast::MultiHash { elements, .. } => {
                self.made.extend(elements.iter().map(|pair| pair.key.clone()));
                values(elements).for_each(|node| self.collect(node));
            }
        }
    }
}
