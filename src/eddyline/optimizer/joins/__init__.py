"""Conjunctive window joins as a model: what flows, what it costs, and which tree is the cheapest.

After Ayad and Naughton, Static Optimization of Conjunctive Queries with Sliding Windows Over
Infinite Streams, SIGMOD 2004. Independent of logical plans: sources are numbers, trees are pairs.
"""
