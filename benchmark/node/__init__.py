"""The processes that `bench_node` and `soak` run: robots, publishers, listeners, and nodes to compare with."""
