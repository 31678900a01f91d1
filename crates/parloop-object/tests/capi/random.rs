//! Types and values of any shape: the generated text compiles without a warning, and finds every part where it was laid.

use parloop_kernel::Context;
use parloop_object::{ApiOptions, Type, class_api, in_dependency_order};
use proptest::prelude::*;

use crate::lay::lay;
use crate::plans::{Dice, build, compound, value};
use crate::probe::{Probe, run};

/// The text of all these classes.
fn source(classes: &[Type], checked: bool) -> String {
    let definition = if checked { "#define PARLOOP_CHECK(ok, site, index, limit) (ok)\n" } else { "" };
    let apis = in_dependency_order(classes).unwrap().into_iter().map(|class| class_api(&class, &[], &ApiOptions { checked }, 0).source);
    definition.to_owned() + &apis.collect::<String>()
}

/// More calls than this make one kernel that takes its compiler long.
const MOST_CALLS: usize = 600;

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_type_is_read_and_written_where_it_was_laid(plans in proptest::collection::vec(compound(3), 4), seed: u64, checked: bool) {
        let ctx = Context::open("cpu:1").unwrap();
        let (mut names, mut dice) = (0, Dice(seed));
        let classes: Vec<Type> = plans.iter().map(|plan| build(plan, &mut names)).collect();
        let (mut probes, mut expected) = (Vec::new(), Vec::new());
        for class in &classes {
            let (value, offset) = (value(class, &mut dice), 8 * dice.roll(3));
            let (bytes, placed) = lay(class, &value, offset);
            let mut reading = placed.reading(class.name());
            reading.truncate(MOST_CALLS);
            probes.push(Probe { class: class.name().into(), bytes: bytes.clone(), offset, steps: reading });
            expected.push(bytes.clone());
            let adding = placed.adding(class.name(), 3);
            if adding.len() <= MOST_CALLS {
                probes.push(Probe { class: class.name().into(), bytes, offset, steps: adding });
                expected.push(lay(class, &value.plus(3), offset).0);
            }
        }
        prop_assert_eq!(run(&ctx, &source(&classes, checked), &probes), expected);
    }
}
