//! A case as text: a kernel, the sizes it is called with, and a chain of transformations.

use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// A `.loop` file without transformations.
    pub kernel: String,
    pub sizes: Vec<i64>,
    /// Transformations, one a line.
    pub steps: Vec<String>,
}

const SIZES: &str = "; sizes ";
const CHAIN: &str = "; chain";
/// Begins a line that says what the line after it means.
const MEANS: &str = ";= ";

/// Begins a line that names two arrays that are passed as one.
pub const SAME: &str = "; same ";

/// The distance between the elements that a kernel touches of an array `h` with more than 2^31 elements.
pub const FAR: usize = (1 << 30) + 7;
/// The same for its meaning, which is computed in little memory.
pub const NEAR: usize = 8;

impl Case {
    /// Whether it has an array with more than 2^31 elements.
    pub fn is_huge(&self) -> bool {
        self.kernel.contains(&FAR.to_string())
    }

    /// Two arrays that are passed as one, if there are such.
    pub fn same(&self) -> Option<(&str, &str)> {
        self.kernel.lines().find_map(|line| line.strip_prefix(SAME))?.split_once(' ')
    }

    /// The array whose numbers an array has before the call.
    pub fn source<'c>(&'c self, array: &'c str) -> &'c str {
        self.same().filter(|(_, other)| *other == array).map_or(array, |(one, _)| one)
    }

    /// Reads what is printed.
    pub fn parse(text: &str) -> Option<Case> {
        let (sizes, rest) = text.strip_prefix(SIZES)?.split_once('\n')?;
        let (kernel, steps) = rest.split_once(CHAIN)?;
        Some(Case {
            kernel: kernel.to_owned(),
            sizes: sizes.split_whitespace().map(|size| size.parse().ok()).collect::<Option<_>>()?,
            steps: steps.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect(),
        })
    }

    /// The kernel in instructions that the interpreter knows: calls are replaced by what they mean, and large distances by small ones.
    pub fn meaning(&self) -> String {
        let mut text = String::new();
        let mut replaced = false;
        for line in self.kernel.lines() {
            if let Some(plain) = line.strip_prefix(MEANS) {
                text += &format!("  {plain}\n");
                replaced = true;
            } else if !std::mem::take(&mut replaced) {
                // Functions are not called any more.
                if line.starts_with("function ") {
                    break;
                }
                text += &format!("{line}\n");
            }
        }
        text.replace(&FAR.to_string(), &NEAR.to_string())
    }

    /// The lines of the kernel; one that another gives a meaning to goes with it.
    pub fn units(&self) -> Vec<String> {
        let mut units: Vec<String> = Vec::new();
        let mut open = false;
        for line in self.kernel.lines() {
            match units.last_mut().filter(|_| open) {
                Some(last) => *last += &format!("\n{line}"),
                None => units.push(line.to_owned()),
            }
            open = line.starts_with(MEANS);
        }
        units
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.sizes.iter().map(ToString::to_string).collect();
        writeln!(f, "{SIZES}{}", sizes.join(" "))?;
        f.write_str(&self.kernel)?;
        writeln!(f, "{CHAIN}")?;
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}
