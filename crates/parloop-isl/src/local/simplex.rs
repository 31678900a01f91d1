//! Whether linear constraints can hold, by the simplex method in exact fractions. Numbers that outgrow 64 bits end the search without
//! a verdict.

/// A constraint in numbers: `constant + sum of coefficient * variable`, zero or at least zero.
pub(super) struct Row {
    pub is_zero: bool,
    pub constant: i64,
    pub coefficients: Vec<i64>,
}

/// What was found out.
enum Verdict {
    /// Not even fractions satisfy all constraints.
    Impossible,
    /// Whole numbers do.
    Whole,
    /// Fractions do; whole numbers may or may not. That variable is between that number and the next.
    Fraction(usize, i64),
}

/// `denominator * variable = constant + sum of coefficient * column`.
struct Basic {
    variable: usize,
    denominator: i64,
    constant: i64,
    coefficients: Vec<i64>,
}

/// Variables first, then one slack for each row. A column's value is zero; a free column can have any sign.
struct Tableau {
    free: usize,
    columns: Vec<usize>,
    rows: Vec<Basic>,
}

/// So many times a variable that is a fraction is tried on both sides.
const MAX_BRANCHES: usize = 12;

/// A search that takes longer than this is left to others.
const MAX_PIVOTS: usize = 200;

/// Whether whole numbers satisfy the constraints; `None` when the search takes long or numbers grow too large.
pub(super) fn has_whole_point(rows: &mut Vec<Row>, variables: usize) -> Option<bool> {
    search(rows, variables, &mut { MAX_BRANCHES })
}

/// Where a variable is a fraction, it is tried at most at the number below and at least at the one above.
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

/// The verdict on constraints over that many variables; `None` when numbers grow too large.
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
    /// Expresses a variable of each equality by the others; its slack, which is zero, goes. `Some(false)` when one cannot hold.
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

    /// Makes variables rows, as far as some row bounds them: a row of a variable bounds nothing itself.
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

    /// Makes no slack negative, always going on with the first that is, which ends. `Some(false)` when it cannot be done.
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
    /// Divides by what divides all numbers.
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

/// The number, if there is room to change its sign.
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
