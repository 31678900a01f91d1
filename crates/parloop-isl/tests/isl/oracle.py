# Answers questions about sets with islpy: one a line, parts between tabs, an answer in isl's notation or true/false for each.
import sys

import islpy as isl


def pair(a, b):
    a, b = isl.Set(a), isl.Set(b)
    return isl.align_two(a, b)


def answer(kind, a, b):
    if kind == "read":
        return isl.Set(a)
    if kind == "is_empty":
        return isl.Set(a).is_empty()
    if kind == "is_bounded":
        return isl.Set(a).is_bounded()
    if kind == "project_out":
        return isl.Set(a).project_out(isl.dim_type.set, int(b), 1)
    if kind in ("max", "min"):
        a = isl.Set(a)
        a = a.project_out(isl.dim_type.set, 1, a.dim(isl.dim_type.set) - 1)
        return a.lexmax() if kind == "max" else a.lexmin()
    a, b = pair(a, b)
    return {"union": a.union, "subtract": a.subtract, "intersect": a.intersect, "is_subset": a.is_subset, "is_equal": a.is_equal}[kind](b)


for line in sys.stdin:
    print(str(answer(*line.rstrip("\n").split("\t"))).replace("True", "true").replace("False", "false"))
