//! Batches of elements in the lanes of vectors: the kernel is called for each lane in a loop that compilers vectorise, since it writes only
//! to an array of the batch. What it left is kept afterwards, lane by lane, in the order of the elements.

use parloop_loop::create::Data;

use super::body::{Call, Maker, combined};
use super::{Apart, Form, LANES};
use crate::shape::ArgShape;

/// The call for one lane.
const LANE: Call = Call {
    element: "pl_ev",
    place: "pl_cv",
    inames: Some("pl_g:pl_b:pl_v"),
    private: "pl_p",
    fetch: "pl_q",
    purpose: "l",
    id: "pl_lanes",
    unwritten: "1",
};

impl Maker<'_> {
    /// Runs whole batches.
    pub(super) fn in_lanes(&mut self) {
        self.fetch_all(LANE);
        self.call(LANE);
        for (index, arg) in self.shape.args.iter().enumerate().filter(|(_, arg)| arg.access.writes()) {
            self.hold(index, arg);
            self.keep_lane(index, arg);
        }
    }

    /// Puts what the kernel left in a lane into the array of the batch.
    fn hold(&mut self, index: usize, arg: &ArgShape) {
        let rows = arg.map().map(|map| format!("{}, ", self.shape.maps[map])).unwrap_or_default();
        self.body.data.push(Data::temporary(format!("pl_h{index}")).dtype(arg.dtype).shape(format!("{rows}{}, {LANES}", arg.count)));
        let walk = self.walk(index, arg, "h");
        let private = Self::private(LANE, index, arg, &walk);
        let place = walk.inames.replace(':', ", ");
        self.body.instructions.push(format!(
            "pl_h{index}[{place}, pl_v] = {private} {{id=pl_h{index}, dep=*pl_lanes, inames=pl_g:pl_b:pl_v:{}}}",
            walk.inames
        ));
    }

    /// Keeps what the batch has of a lane.
    fn keep_lane(&mut self, index: usize, arg: &ArgShape) {
        let masked = matches!(self.form, Form::Elements { apart: Apart::Mask, .. });
        let walk = self.walk(index, arg, "y");
        let held = format!("pl_h{index}[{}, pl_u]", walk.inames.replace(':', ", "));
        let (there, after) = match arg.is_reduced() {
            true => (format!("pl_a{index}[{}]", walk.number), format!(":pl_a{index}")),
            false => (self.public("pl_eu", "pl_cu", arg, &walk), self.after(index, "pl_y", |other| other.overlaps(arg))),
        };
        let known = if masked { ":pl_eu:pl_mu" } else { ":pl_eu" };
        let condition = if masked { format!(", if={}", self.is_own("pl_mu", arg, &walk.row)) } else { String::new() };
        let id = format!("pl_y{index}");
        self.body.instructions.push(format!(
            "{there} = {} {{id={id}, dep=*pl_h{index}{known}{after}, inames=pl_g:pl_b:pl_u:{}, nosync=pl_*@global{condition}}}",
            combined(arg.access, &there, &held),
            walk.inames
        ));
        self.body.writes.push(id);
    }
}
