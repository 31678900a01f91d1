//! Whether linear constraints can hold, by the simplex method in exact fractions. Overflow of 64 bits ends the search without a verdict.

/// A constraint in numbers: `constant + sum of coefficient * variable`, zero or at least zero.
pub(super) struct Row {
    pub is_zero: bool,
    pub constant: i64,
    pub coefficients: Vec<i64>,
}

/// The result of the search.
enum Verdict {
    /// No rational point satisfies all constraints.
    Impossible,
    /// An integer point does.
    Whole,
    /// A rational point does; integer points may or may not. The variable is between that integer and the next.
    Fraction(usize, i64),
}

/// `denominator * variable = constant + sum of coefficient * column`.
struct Basic {
    variable: usize,
    denominator: i64,
    constant: i64,
    coefficients: Vec<i64>,
}

/// Variables first, then one slack for each row. Columns have the value zero; a free column can have any sign.
struct Tableau {
    free: usize,
    columns: Vec<usize>,
    rows: Vec<Basic>,
}

/// The maximum number of branches on fractional variables.
const MAX_BRANCHES: usize = 12;

/// The maximum number of steps before isl takes over.
const MAX_PIVOTS: usize = 200;

/// Whether integers satisfy the constraints; `None` if the search takes too long or numbers overflow.
pub(super) fn has_whole_point(rows: &mut Vec<Row>, variables: usize) -> Option<bool> {
    search(rows, variables, &mut { MAX_BRANCHES })
}

/// Branches on a fractional variable: at most the integer below, or at least the integer above.
fn search(rows: &mut Vec<Row>, variables: usize, left: &mut usize) -> Option<bool> {
    *left = left.checked_sub(1)?;
    let (variable, below) = match solve(rows, variables)? {
        Verdict::Impossible => return Some(false),
        Verdict::Whole => return Some(true),
        Verdict::Fraction(variable, below) => (variable, below),
    };
    let mut unknown = false;
    for (sign, limit) in [(-1, below), (1, below.checked_add(1)?)] {
        let mut coefficients = vec![0; variables];
        coefficients[variable] = sign;
        rows.push(Row { is_zero: false, constant: limit.checked_mul(-sign)?, coefficients });
        let found = search(rows, variables, left);
        rows.pop();
        match found {
            Some(true) => return Some(true),
            Some(false) => {}
            None => unknown = true,
        }
    }
    if unknown { None } else { Some(false) }
}

/// The verdict on constraints over that many variables; `None` if numbers overflow.
fn solve(rows: &[Row], variables: usize) -> Option<Verdict> {
    let slack = |(place, row): (usize, &Row)| Basic {
        variable: variables + place,
        denominator: 1,
        constant: row.constant,
        coefficients: row.coefficients.clone(),
    };
    let mut tableau = Tableau { free: variables, columns: (0..variables).collect(), rows: rows.iter().enumerate().map(slack).collect() };
    let zeros: Vec<usize> = (0..rows.len()).filter(|&place| rows[place].is_zero).collect();
    if !tableau.solve_equalities(&zeros)? {
        return Some(Verdict::Impossible);
    }
    tableau.take_in_free_columns()?;
    match tableau.make_feasible()? {
        false => Some(Verdict::Impossible),
        true => Some(tableau.point()),
    }
}

impl Tableau {
    /// Solves each equality for a variable and drops its slack, which is zero. `Some(false)` if one cannot hold.
    fn solve_equalities(&mut self, zeros: &[usize]) -> Option<bool> {
        for place in zeros {
            let slack = self.free + place;
            let row = self.rows.iter().position(|row| row.variable == slack).expect("invariant: slacks of equalities stay rows until here");
            let coefficients = &self.rows[row].coefficients;
            let column = (0..self.columns.len())
                .filter(|&column| coefficients[column] != 0)
                .min_by_key(|&column| coefficients[column].unsigned_abs());
            match column {
                Some(column) => {
                    self.pivot(row, column)?;
                    self.columns.remove(column);
                    for row in &mut self.rows {
                        row.coefficients.remove(column);
                    }
                }
                None if self.rows[row].constant != 0 => return Some(false),
                None => drop(self.rows.remove(row)),
            }
        }
        Some(true)
    }

    /// Turns variables into rows where a row bounds them: the row of a variable is itself no bound.
    fn take_in_free_columns(&mut self) -> Option<()> {
        for column in 0..self.columns.len() {
            let bounds = |row: &usize| self.rows[*row].variable >= self.free && self.rows[*row].coefficients[column] != 0;
            // Small coefficients lead to whole numbers.
            if let Some(row) = (0..self.rows.len()).filter(bounds).min_by_key(|&row| self.rows[row].coefficients[column].unsigned_abs()) {
                self.pivot(row, column)?;
            }
        }
        Some(())
    }

    /// Pivots until no slack is negative, always choosing the first, which terminates. `Some(false)` if that is impossible.
    fn make_feasible(&mut self) -> Option<bool> {
        for _ in 0..MAX_PIVOTS {
            let negative = |place: &usize| self.rows[*place].variable >= self.free && self.rows[*place].constant < 0;
            let Some(row) = (0..self.rows.len()).filter(negative).min_by_key(|&place| self.rows[place].variable) else { return Some(true) };
            let raises = |column: &usize| self.columns[*column] >= self.free && self.rows[row].coefficients[*column] > 0;
            let Some(column) = (0..self.columns.len()).filter(raises).min_by_key(|&column| self.columns[column]) else {
                return Some(false);
            };
            self.pivot(row, column)?;
        }
        None
    }

    /// Exchanges a row's variable and a column's.
    fn pivot(&mut self, row: usize, column: usize) -> Option<()> {
        let mut pivot = self.rows.swap_remove(row);
        // denominator*v = constant + a*y + ...  becomes  a*y = denominator*v - constant - ...
        let a = pivot.coefficients[column];
        let sign = a.signum();
        pivot.coefficients.iter_mut().for_each(|c| *c *= -sign);
        pivot.constant *= -sign;
        pivot.coefficients[column] = pivot.denominator * sign;
        pivot.denominator = a.abs();
        std::mem::swap(&mut pivot.variable, &mut self.columns[column]);
        pivot.reduce();
        for other in self.rows.iter_mut().filter(|other| other.coefficients[column] != 0) {
            let b = std::mem::replace(&mut other.coefficients[column], 0);
            let scaled = |own: i64, new: i64| small(own.checked_mul(pivot.denominator)?.checked_add(b.checked_mul(new)?)?);
            other.constant = scaled(other.constant, pivot.constant)?;
            for (own, &new) in other.coefficients.iter_mut().zip(&pivot.coefficients) {
                *own = scaled(*own, new)?;
            }
            other.denominator = small(other.denominator.checked_mul(pivot.denominator)?)?;
            other.reduce();
        }
        self.rows.push(pivot);
        Some(())
    }

    /// The point where all columns are zero.
    fn point(&self) -> Verdict {
        let fraction = self.rows.iter().find(|row| row.variable < self.free && row.constant % row.denominator != 0);
        match fraction {
            Some(row) => Verdict::Fraction(row.variable, row.constant.div_euclid(row.denominator)),
            None => Verdict::Whole,
        }
    }
}

impl Basic {
    /// Divides by the common factor of all numbers.
    fn reduce(&mut self) {
        let mut common = self.denominator;
        for &number in self.coefficients.iter().chain([&self.constant]) {
            if common == 1 {
                return;
            }
            common = gcd(common, number);
        }
        self.denominator /= common;
        self.constant /= common;
        self.coefficients.iter_mut().for_each(|c| *c /= common);
    }
}

/// The number, if it can be negated.
fn small(number: i64) -> Option<i64> {
    (number != i64::MIN).then_some(number)
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
