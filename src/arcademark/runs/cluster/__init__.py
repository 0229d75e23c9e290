"""Plans on a cluster: `slurm` plays shards as jobs, `shipping` takes agents' files to machines that lack them."""
