"""Plans on a cluster: `slurm` plays shards as jobs."""
