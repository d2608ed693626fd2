"""Reports: one document made from a run, and its faces for people and programs."""
