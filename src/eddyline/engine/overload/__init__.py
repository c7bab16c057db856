"""Load shedding: decides and applies the share of rows that is kept under overload."""
