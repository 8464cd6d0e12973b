"""What is watched while it runs: plans, jobs, the worker, lanes, references. Knows no capability."""
