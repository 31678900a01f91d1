"""Meshes that several tests share."""

import numpy as np

import parloop.mesh as op2


class Mesh:
    """A strip of squares cut into triangles."""

    def __init__(self, squares=50, seed=1):
        rng = np.random.default_rng(seed)
        order = rng.permutation(2 * squares)
        low, high = np.arange(squares), np.arange(squares) + squares + 1
        table = np.concatenate([np.stack([low, low + 1, high], 1), np.stack([low + 1, high + 1, high], 1)])[order]
        self.cells, self.nodes = op2.Set(2 * squares, "cells"), op2.Set(2 * squares + 2, "nodes")
        self.table = table
        self.map = op2.Map(self.cells, self.nodes, 3, table, "corners")
        x = np.stack([np.tile(np.arange(squares + 1.0), 2), np.repeat([0.0, 1.0], squares + 1)], 1)
        self.coordinates = x
        self.x = op2.Dat(self.nodes**2, x.copy(), name="x")
