"""The loops of the example `05_airfoil`, one by one, for the benchmarks."""

from __future__ import annotations

import importlib

import parloop as pl
import parloop.mesh as op2
from parloop.mesh import INC, READ, RW, WRITE

#: The module of the example; its name begins with a digit.
example = importlib.import_module("05_airfoil")


def built_loops(flow, context: pl.Context) -> dict[str, op2.ParLoop]:
    """The loops of a solver, each of which runs on this context wherever it is called."""
    x, q, qold, adt, res, rms = flow.x, flow.q, flow.qold, flow.adt, flow.res, flow.rms
    edge_nodes, edge_cells, bedge_nodes, bedge_cells = flow.edge_nodes, flow.edge_cells, flow.bedge_nodes, flow.bedge_cells
    at_edges = x(READ, edge_nodes), q(READ, edge_cells), adt(READ, edge_cells), res(INC, edge_cells)
    at_bedges = x(READ, bedge_nodes), q(READ, bedge_cells), adt(READ, bedge_cells), res(INC, bedge_cells)
    loops = {
        example.save_soln: (flow.cells, q(READ), qold(WRITE)),
        example.adt_calc: (flow.cells, x(READ, flow.cell_nodes), q(READ), adt(WRITE)),
        example.res_calc: (flow.edges, *at_edges),
        example.bres_calc: (flow.bedges, *at_bedges, flow.bound(READ), flow.far(READ)),
        example.update: (flow.cells, qold(READ), q(WRITE), res(RW), adt(READ), rms(INC)),
    }
    return {kernel.name: op2.ParLoop(kernel, *arguments, context=context) for kernel, arguments in loops.items()}
