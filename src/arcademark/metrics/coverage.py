"""How often the intervals of `arcademark.metrics.bootstrap` hold the true value: measured by simulation.

`MEASURED` and `OTHERS` are written by ``python bench/interval_coverage.py --write``, with ``--others`` for the second.
It says how populations are made. Both stand in docs/intervals.md too.
"""

from __future__ import annotations

import math

LEVEL = 0.95
TASKS = (5, 26, 57)
RUNS = (2, 3, 5, 10, 20)
ENOUGH = 0.93
"""An interval whose like was seen to hold the truth in a smaller share of cases, at worst, says so."""

FEW_RUNS = 10
"""With fewer runs a task than these an interval of which nothing was measured says so."""

# measured: begin
# fmt: off
MEASURED: dict[tuple[str, str, int], tuple[tuple[float, float], ...]] = {
    ("symmetric", "mean", 5):
        ((0.892, 0.942), (0.898, 0.945), (0.922, 0.944), (0.932, 0.94), (0.932, 0.953)),
    ("symmetric", "mean", 26):
        ((0.902, 0.964), (0.887, 0.955), (0.911, 0.954), (0.924, 0.946), (0.924, 0.952)),
    ("symmetric", "mean", 57):
        ((0.91, 0.964), (0.908, 0.95), (0.926, 0.959), (0.944, 0.96), (0.944, 0.952)),
    ("symmetric", "median", 5):
        ((0.879, 0.928), (0.884, 0.931), (0.926, 0.948), (0.932, 0.947), (0.935, 0.95)),
    ("symmetric", "median", 26):
        ((0.885, 0.965), (0.884, 0.968), (0.902, 0.962), (0.942, 0.963), (0.941, 0.961)),
    ("symmetric", "median", 57):
        ((0.891, 0.947), (0.9, 0.96), (0.932, 0.956), (0.947, 0.958), (0.952, 0.956)),
    ("symmetric", "iqm", 5):
        ((0.89, 0.948), (0.854, 0.924), (0.92, 0.942), (0.922, 0.94), (0.94, 0.948)),
    ("symmetric", "iqm", 26):
        ((0.947, 0.97), (0.932, 0.95), (0.93, 0.954), (0.94, 0.95), (0.937, 0.947)),
    ("symmetric", "iqm", 57):
        ((0.947, 0.96), (0.928, 0.948), (0.936, 0.948), (0.942, 0.951), (0.946, 0.952)),
    ("symmetric", "optimality_gap", 5):
        ((0.614, 0.766), (0.608, 0.772), (0.628, 0.854), (0.663, 0.916), (0.72, 0.908)),
    ("symmetric", "optimality_gap", 26):
        ((0.807, 0.934), (0.727, 0.954), (0.682, 0.952), (0.678, 0.945), (0.728, 0.95)),
    ("symmetric", "optimality_gap", 57):
        ((0.814, 0.981), (0.714, 0.952), (0.708, 0.947), (0.722, 0.953), (0.772, 0.953)),
    ("symmetric", "probability_of_improvement", 5):
        ((0.978, 0.985), (0.974, 0.975), (0.958, 0.966), (0.949, 0.96), (0.948, 0.949)),
    ("symmetric", "probability_of_improvement", 26):
        ((0.978, 0.982), (0.968, 0.972), (0.966, 0.968), (0.952, 0.956), (0.948, 0.956)),
    ("symmetric", "probability_of_improvement", 57):
        ((0.976, 0.978), (0.972, 0.972), (0.961, 0.966), (0.955, 0.965), (0.945, 0.958)),
    ("expanded", "mean", 5):
        ((0.891, 0.942), (0.904, 0.946), (0.922, 0.945), (0.932, 0.944), (0.933, 0.953)),
    ("expanded", "mean", 26):
        ((0.904, 0.962), (0.888, 0.954), (0.916, 0.954), (0.93, 0.946), (0.928, 0.948)),
    ("expanded", "mean", 57):
        ((0.91, 0.963), (0.908, 0.951), (0.93, 0.958), (0.943, 0.958), (0.945, 0.95)),
    ("expanded", "median", 5):
        ((0.85, 0.918), (0.885, 0.948), (0.917, 0.946), (0.927, 0.95), (0.93, 0.949)),
    ("expanded", "median", 26):
        ((0.796, 0.952), (0.826, 0.96), (0.877, 0.952), (0.933, 0.96), (0.94, 0.955)),
    ("expanded", "median", 57):
        ((0.8, 0.911), (0.84, 0.945), (0.896, 0.952), (0.928, 0.952), (0.938, 0.954)),
    ("expanded", "iqm", 5):
        ((0.884, 0.938), (0.852, 0.91), (0.914, 0.925), (0.912, 0.938), (0.938, 0.954)),
    ("expanded", "iqm", 26):
        ((0.942, 0.967), (0.916, 0.939), (0.925, 0.944), (0.939, 0.953), (0.938, 0.946)),
    ("expanded", "iqm", 57):
        ((0.94, 0.957), (0.922, 0.942), (0.931, 0.948), (0.94, 0.948), (0.946, 0.95)),
    ("expanded", "optimality_gap", 5):
        ((0.614, 0.766), (0.626, 0.774), (0.632, 0.86), (0.664, 0.928), (0.726, 0.926)),
    ("expanded", "optimality_gap", 26):
        ((0.805, 0.934), (0.744, 0.955), (0.694, 0.954), (0.692, 0.952), (0.739, 0.95)),
    ("expanded", "optimality_gap", 57):
        ((0.814, 0.98), (0.72, 0.954), (0.715, 0.95), (0.738, 0.956), (0.782, 0.956)),
    ("expanded", "probability_of_improvement", 5):
        ((0.976, 0.984), (0.98, 0.981), (0.964, 0.972), (0.953, 0.964), (0.946, 0.951)),
    ("expanded", "probability_of_improvement", 26):
        ((0.979, 0.982), (0.968, 0.972), (0.966, 0.968), (0.95, 0.96), (0.946, 0.956)),
    ("expanded", "probability_of_improvement", 57):
        ((0.973, 0.978), (0.973, 0.974), (0.96, 0.966), (0.954, 0.965), (0.944, 0.954)),
    ("percentile", "mean", 5):
        ((0.598, 0.632), (0.742, 0.785), (0.851, 0.854), (0.9, 0.905), (0.915, 0.94)),
    ("percentile", "mean", 26):
        ((0.669, 0.738), (0.782, 0.817), (0.862, 0.894), (0.901, 0.925), (0.914, 0.936)),
    ("percentile", "mean", 57):
        ((0.712, 0.768), (0.808, 0.85), (0.874, 0.906), (0.92, 0.936), (0.936, 0.939)),
    ("percentile", "median", 5):
        ((0.512, 0.566), (0.73, 0.77), (0.82, 0.846), (0.882, 0.908), (0.911, 0.931)),
    ("percentile", "median", 26):
        ((0.572, 0.755), (0.714, 0.832), (0.824, 0.886), (0.906, 0.936), (0.928, 0.936)),
    ("percentile", "median", 57):
        ((0.61, 0.77), (0.738, 0.857), (0.839, 0.905), (0.904, 0.93), (0.923, 0.942)),
    ("percentile", "iqm", 5):
        ((0.554, 0.59), (0.694, 0.725), (0.828, 0.856), (0.879, 0.902), (0.922, 0.937)),
    ("percentile", "iqm", 26):
        ((0.744, 0.774), (0.802, 0.821), (0.877, 0.891), (0.921, 0.934), (0.927, 0.936)),
    ("percentile", "iqm", 57):
        ((0.752, 0.787), (0.826, 0.856), (0.894, 0.906), (0.924, 0.934), (0.94, 0.942)),
    ("percentile", "optimality_gap", 5):
        ((0.376, 0.522), (0.508, 0.67), (0.568, 0.827), (0.636, 0.902), (0.71, 0.906)),
    ("percentile", "optimality_gap", 26):
        ((0.502, 0.742), (0.597, 0.832), (0.632, 0.903), (0.664, 0.925), (0.731, 0.94)),
    ("percentile", "optimality_gap", 57):
        ((0.546, 0.782), (0.608, 0.858), (0.668, 0.908), (0.712, 0.933), (0.774, 0.944)),
    ("percentile", "probability_of_improvement", 5):
        ((0.826, 0.834), (0.904, 0.918), (0.937, 0.939), (0.939, 0.952), (0.94, 0.943)),
    ("percentile", "probability_of_improvement", 26):
        ((0.872, 0.881), (0.916, 0.922), (0.942, 0.945), (0.941, 0.943), (0.939, 0.95)),
    ("percentile", "probability_of_improvement", 57):
        ((0.88, 0.894), (0.922, 0.931), (0.934, 0.942), (0.942, 0.956), (0.938, 0.946)),
}
# fmt: on
# measured: end
# others: begin
# fmt: off
OTHERS: dict[tuple[str, str, int], tuple[tuple[float, float], ...]] = {
    ("symmetric", "difference of mean", 5):
        ((0.952, 0.98), (0.94, 0.962), (0.955, 0.978), (0.95, 0.958), (0.948, 0.965)),
    ("symmetric", "difference of mean", 26):
        ((0.945, 0.975), (0.95, 0.98), (0.962, 0.965), (0.952, 0.962), (0.942, 0.955)),
    ("symmetric", "difference of mean", 57):
        ((0.958, 0.978), (0.945, 0.968), (0.952, 0.955), (0.94, 0.952), (0.948, 0.96)),
    ("symmetric", "difference of median", 5):
        ((0.962, 0.978), (0.965, 0.968), (0.948, 0.982), (0.958, 0.982), (0.958, 0.968)),
    ("symmetric", "difference of median", 26):
        ((0.972, 0.99), (0.982, 0.985), (0.962, 0.978), (0.96, 0.975), (0.968, 0.978)),
    ("symmetric", "difference of median", 57):
        ((0.982, 0.998), (0.982, 0.995), (0.988, 0.998), (0.978, 0.992), (0.96, 0.988)),
    ("symmetric", "difference of iqm", 5):
        ((0.962, 0.978), (0.948, 0.97), (0.95, 0.975), (0.94, 0.975), (0.955, 0.97)),
    ("symmetric", "difference of iqm", 26):
        ((0.965, 0.97), (0.965, 0.978), (0.955, 0.962), (0.95, 0.962), (0.94, 0.958)),
    ("symmetric", "difference of iqm", 57):
        ((0.965, 0.97), (0.95, 0.968), (0.945, 0.955), (0.935, 0.952), (0.92, 0.942)),
    ("symmetric", "difference of optimality_gap", 5):
        ((0.808, 0.862), (0.82, 0.945), (0.808, 0.922), (0.828, 0.928), (0.878, 0.935)),
    ("symmetric", "difference of optimality_gap", 26):
        ((0.93, 0.98), (0.945, 0.988), (0.955, 0.962), (0.932, 0.958), (0.948, 0.96)),
    ("symmetric", "difference of optimality_gap", 57):
        ((0.965, 0.98), (0.952, 0.978), (0.915, 0.98), (0.95, 0.972), (0.932, 0.975)),
    ("symmetric", "capped mean", 5):
        ((0.785, 0.97), (0.818, 0.972), (0.915, 0.95), (0.95, 0.968), (0.948, 0.97)),
    ("symmetric", "capped mean", 26):
        ((0.865, 0.945), (0.862, 0.938), (0.9, 0.935), (0.915, 0.948), (0.928, 0.94)),
    ("symmetric", "capped mean", 57):
        ((0.952, 0.965), (0.918, 0.968), (0.915, 0.945), (0.942, 0.96), (0.93, 0.958)),
    ("symmetric", "capped median", 5):
        ((0.982, 0.995), (0.99, 1.0), (0.978, 0.998), (0.985, 0.995), (0.982, 0.998)),
    ("symmetric", "capped median", 26):
        ((0.998, 1.0), (0.992, 1.0), (0.992, 1.0), (0.998, 1.0), (0.995, 1.0)),
    ("symmetric", "capped median", 57):
        ((0.995, 1.0), (0.998, 1.0), (0.998, 1.0), (1.0, 1.0), (1.0, 1.0)),
    ("symmetric", "capped iqm", 5):
        ((0.832, 0.925), (0.868, 0.918), (0.935, 0.94), (0.938, 0.962), (0.945, 0.97)),
    ("symmetric", "capped iqm", 26):
        ((0.958, 0.972), (0.972, 0.985), (0.968, 0.978), (0.968, 0.978), (0.962, 0.972)),
    ("symmetric", "capped iqm", 57):
        ((0.972, 0.988), (0.968, 0.985), (0.965, 0.975), (0.96, 0.978), (0.95, 0.982)),
    ("symmetric", "capped optimality_gap", 5):
        ((0.655, 0.788), (0.71, 0.795), (0.698, 0.87), (0.72, 0.922), (0.765, 0.928)),
    ("symmetric", "capped optimality_gap", 26):
        ((0.9, 0.918), (0.882, 0.965), (0.885, 0.962), (0.895, 0.955), (0.895, 0.945)),
    ("symmetric", "capped optimality_gap", 57):
        ((0.945, 0.995), (0.922, 0.968), (0.908, 0.952), (0.942, 0.948), (0.918, 0.97)),
    ("symmetric", "difference of capped mean", 5):
        ((0.932, 0.98), (0.935, 0.98), (0.955, 0.98), (0.958, 0.978), (0.958, 0.982)),
    ("symmetric", "difference of capped mean", 26):
        ((0.97, 0.978), (0.97, 0.978), (0.955, 0.958), (0.938, 0.972), (0.918, 0.97)),
    ("symmetric", "difference of capped mean", 57):
        ((0.978, 0.995), (0.965, 0.995), (0.952, 0.97), (0.938, 0.972), (0.935, 0.97)),
    ("symmetric", "difference of capped median", 5):
        ((0.99, 1.0), (0.982, 1.0), (0.982, 0.998), (0.99, 0.998), (0.985, 0.995)),
    ("symmetric", "difference of capped median", 26):
        ((0.995, 1.0), (1.0, 1.0), (0.998, 1.0), (0.998, 1.0), (0.995, 1.0)),
    ("symmetric", "difference of capped median", 57):
        ((0.995, 1.0), (1.0, 1.0), (1.0, 1.0), (0.998, 1.0), (0.998, 1.0)),
    ("symmetric", "difference of capped iqm", 5):
        ((0.948, 0.982), (0.958, 0.975), (0.972, 0.992), (0.98, 0.982), (0.96, 0.988)),
    ("symmetric", "difference of capped iqm", 26):
        ((0.98, 0.99), (0.985, 0.99), (0.972, 0.99), (0.975, 0.982), (0.962, 0.982)),
    ("symmetric", "difference of capped iqm", 57):
        ((0.98, 0.988), (0.972, 0.985), (0.958, 0.972), (0.955, 0.978), (0.965, 0.98)),
    ("symmetric", "difference of capped optimality_gap", 5):
        ((0.808, 0.862), (0.828, 0.932), (0.8, 0.928), (0.862, 0.928), (0.875, 0.935)),
    ("symmetric", "difference of capped optimality_gap", 26):
        ((0.93, 0.978), (0.942, 0.975), (0.952, 0.965), (0.932, 0.96), (0.94, 0.958)),
    ("symmetric", "difference of capped optimality_gap", 57):
        ((0.962, 0.98), (0.955, 0.972), (0.93, 0.968), (0.948, 0.952), (0.935, 0.95)),
    ("expanded", "difference of mean", 5):
        ((0.95, 0.978), (0.94, 0.962), (0.952, 0.972), (0.945, 0.955), (0.942, 0.97)),
    ("expanded", "difference of mean", 26):
        ((0.942, 0.975), (0.952, 0.985), (0.955, 0.962), (0.948, 0.958), (0.94, 0.955)),
    ("expanded", "difference of mean", 57):
        ((0.952, 0.975), (0.945, 0.97), (0.95, 0.952), (0.938, 0.958), (0.938, 0.96)),
    ("expanded", "difference of median", 5):
        ((0.96, 0.97), (0.955, 0.972), (0.955, 0.978), (0.962, 0.982), (0.96, 0.962)),
    ("expanded", "difference of median", 26):
        ((0.97, 0.99), (0.982, 0.992), (0.972, 0.985), (0.98, 0.982), (0.975, 0.982)),
    ("expanded", "difference of median", 57):
        ((0.982, 0.99), (0.988, 0.992), (0.99, 1.0), (0.99, 0.995), (0.978, 0.99)),
    ("expanded", "difference of iqm", 5):
        ((0.962, 0.97), (0.945, 0.968), (0.955, 0.978), (0.942, 0.968), (0.952, 0.968)),
    ("expanded", "difference of iqm", 26):
        ((0.962, 0.968), (0.962, 0.975), (0.95, 0.972), (0.95, 0.968), (0.938, 0.958)),
    ("expanded", "difference of iqm", 57):
        ((0.962, 0.97), (0.95, 0.968), (0.94, 0.958), (0.94, 0.945), (0.922, 0.948)),
    ("expanded", "difference of optimality_gap", 5):
        ((0.808, 0.862), (0.82, 0.945), (0.808, 0.955), (0.805, 0.928), (0.858, 0.942)),
    ("expanded", "difference of optimality_gap", 26):
        ((0.93, 0.978), (0.95, 0.985), (0.95, 0.968), (0.935, 0.945), (0.932, 0.962)),
    ("expanded", "difference of optimality_gap", 57):
        ((0.962, 0.98), (0.95, 0.98), (0.91, 0.972), (0.952, 0.97), (0.922, 0.94)),
    ("expanded", "capped mean", 5):
        ((0.75, 0.958), (0.785, 0.95), (0.88, 0.94), (0.925, 0.942), (0.905, 0.958)),
    ("expanded", "capped mean", 26):
        ((0.462, 0.9), (0.568, 0.878), (0.72, 0.89), (0.82, 0.895), (0.838, 0.925)),
    ("expanded", "capped mean", 57):
        ((0.26, 0.875), (0.375, 0.86), (0.57, 0.868), (0.815, 0.888), (0.878, 0.922)),
    ("expanded", "capped median", 5):
        ((0.978, 0.992), (0.982, 1.0), (0.98, 0.998), (0.98, 0.992), (0.98, 0.995)),
    ("expanded", "capped median", 26):
        ((0.988, 0.995), (0.988, 1.0), (0.998, 1.0), (0.998, 1.0), (0.998, 1.0)),
    ("expanded", "capped median", 57):
        ((0.99, 1.0), (0.998, 1.0), (0.998, 1.0), (1.0, 1.0), (0.998, 1.0)),
    ("expanded", "capped iqm", 5):
        ((0.832, 0.925), (0.868, 0.912), (0.928, 0.952), (0.938, 0.962), (0.955, 0.97)),
    ("expanded", "capped iqm", 26):
        ((0.955, 0.968), (0.968, 0.982), (0.97, 0.978), (0.962, 0.98), (0.965, 0.98)),
    ("expanded", "capped iqm", 57):
        ((0.97, 0.988), (0.962, 0.98), (0.952, 0.982), (0.965, 0.975), (0.958, 0.98)),
    ("expanded", "capped optimality_gap", 5):
        ((0.655, 0.788), (0.725, 0.8), (0.7, 0.868), (0.718, 0.925), (0.775, 0.945)),
    ("expanded", "capped optimality_gap", 26):
        ((0.9, 0.918), (0.892, 0.962), (0.895, 0.962), (0.895, 0.958), (0.908, 0.948)),
    ("expanded", "capped optimality_gap", 57):
        ((0.942, 0.992), (0.92, 0.968), (0.91, 0.958), (0.942, 0.952), (0.912, 0.978)),
    ("expanded", "difference of capped mean", 5):
        ((0.93, 0.972), (0.975, 0.982), (0.955, 0.975), (0.955, 0.975), (0.948, 0.978)),
    ("expanded", "difference of capped mean", 26):
        ((0.962, 0.975), (0.965, 0.98), (0.952, 0.962), (0.925, 0.97), (0.86, 0.952)),
    ("expanded", "difference of capped mean", 57):
        ((0.968, 0.99), (0.97, 0.985), (0.95, 0.958), (0.93, 0.965), (0.93, 0.98)),
    ("expanded", "difference of capped median", 5):
        ((0.988, 0.998), (0.988, 0.998), (0.985, 0.998), (0.99, 0.998), (0.985, 0.995)),
    ("expanded", "difference of capped median", 26):
        ((0.992, 0.998), (0.998, 1.0), (0.998, 1.0), (0.998, 1.0), (0.998, 1.0)),
    ("expanded", "difference of capped median", 57):
        ((0.995, 1.0), (1.0, 1.0), (0.998, 1.0), (0.998, 1.0), (0.998, 1.0)),
    ("expanded", "difference of capped iqm", 5):
        ((0.945, 0.982), (0.958, 0.972), (0.96, 0.99), (0.972, 0.978), (0.955, 0.985)),
    ("expanded", "difference of capped iqm", 26):
        ((0.97, 0.978), (0.978, 0.99), (0.972, 0.985), (0.972, 0.975), (0.965, 0.978)),
    ("expanded", "difference of capped iqm", 57):
        ((0.975, 0.988), (0.968, 0.982), (0.958, 0.975), (0.955, 0.978), (0.965, 0.978)),
    ("expanded", "difference of capped optimality_gap", 5):
        ((0.808, 0.862), (0.828, 0.93), (0.802, 0.96), (0.848, 0.925), (0.872, 0.935)),
    ("expanded", "difference of capped optimality_gap", 26):
        ((0.93, 0.978), (0.948, 0.978), (0.94, 0.968), (0.932, 0.955), (0.925, 0.96)),
    ("expanded", "difference of capped optimality_gap", 57):
        ((0.96, 0.98), (0.948, 0.972), (0.928, 0.965), (0.942, 0.952), (0.932, 0.945)),
    ("percentile", "difference of mean", 5):
        ((0.668, 0.745), (0.81, 0.822), (0.89, 0.918), (0.912, 0.928), (0.928, 0.958)),
    ("percentile", "difference of mean", 26):
        ((0.735, 0.788), (0.86, 0.9), (0.89, 0.918), (0.928, 0.945), (0.938, 0.95)),
    ("percentile", "difference of mean", 57):
        ((0.8, 0.808), (0.828, 0.865), (0.9, 0.92), (0.918, 0.93), (0.92, 0.958)),
    ("percentile", "difference of median", 5):
        ((0.685, 0.732), (0.815, 0.895), (0.898, 0.922), (0.92, 0.95), (0.94, 0.955)),
    ("percentile", "difference of median", 26):
        ((0.79, 0.84), (0.902, 0.93), (0.928, 0.942), (0.945, 0.97), (0.97, 0.975)),
    ("percentile", "difference of median", 57):
        ((0.89, 0.918), (0.952, 0.975), (0.972, 0.988), (0.985, 0.99), (0.97, 0.988)),
    ("percentile", "difference of iqm", 5):
        ((0.708, 0.76), (0.812, 0.85), (0.892, 0.918), (0.925, 0.948), (0.948, 0.965)),
    ("percentile", "difference of iqm", 26):
        ((0.8, 0.828), (0.882, 0.908), (0.892, 0.945), (0.932, 0.958), (0.932, 0.942)),
    ("percentile", "difference of iqm", 57):
        ((0.805, 0.848), (0.86, 0.872), (0.908, 0.915), (0.915, 0.942), (0.912, 0.945)),
    ("percentile", "difference of optimality_gap", 5):
        ((0.565, 0.682), (0.68, 0.762), (0.722, 0.848), (0.74, 0.9), (0.81, 0.932)),
    ("percentile", "difference of optimality_gap", 26):
        ((0.722, 0.808), (0.822, 0.902), (0.845, 0.912), (0.9, 0.932), (0.895, 0.952)),
    ("percentile", "difference of optimality_gap", 57):
        ((0.782, 0.808), (0.842, 0.89), (0.872, 0.9), (0.925, 0.938), (0.898, 0.94)),
    ("percentile", "capped mean", 5):
        ((0.575, 0.675), (0.678, 0.808), (0.815, 0.85), (0.895, 0.898), (0.89, 0.938)),
    ("percentile", "capped mean", 26):
        ((0.278, 0.56), (0.45, 0.708), (0.638, 0.815), (0.798, 0.86), (0.818, 0.908)),
    ("percentile", "capped mean", 57):
        ((0.162, 0.538), (0.278, 0.65), (0.498, 0.78), (0.762, 0.87), (0.86, 0.912)),
    ("percentile", "capped median", 5):
        ((0.9, 0.96), (0.962, 0.988), (0.962, 0.992), (0.975, 0.988), (0.975, 0.992)),
    ("percentile", "capped median", 26):
        ((0.97, 0.98), (0.978, 0.992), (0.995, 0.998), (0.995, 0.998), (0.995, 0.998)),
    ("percentile", "capped median", 57):
        ((0.982, 0.998), (0.995, 0.998), (0.992, 1.0), (0.998, 1.0), (0.998, 1.0)),
    ("percentile", "capped iqm", 5):
        ((0.718, 0.81), (0.82, 0.83), (0.878, 0.93), (0.92, 0.942), (0.938, 0.96)),
    ("percentile", "capped iqm", 26):
        ((0.86, 0.892), (0.905, 0.915), (0.935, 0.942), (0.952, 0.975), (0.958, 0.972)),
    ("percentile", "capped iqm", 57):
        ((0.84, 0.922), (0.89, 0.935), (0.922, 0.96), (0.948, 0.972), (0.95, 0.978)),
    ("percentile", "capped optimality_gap", 5):
        ((0.448, 0.522), (0.568, 0.695), (0.605, 0.832), (0.675, 0.91), (0.752, 0.922)),
    ("percentile", "capped optimality_gap", 26):
        ((0.66, 0.712), (0.77, 0.858), (0.832, 0.91), (0.875, 0.948), (0.902, 0.938)),
    ("percentile", "capped optimality_gap", 57):
        ((0.762, 0.79), (0.835, 0.858), (0.88, 0.92), (0.905, 0.928), (0.902, 0.965)),
    ("percentile", "difference of capped mean", 5):
        ((0.798, 0.835), (0.892, 0.9), (0.915, 0.935), (0.93, 0.962), (0.938, 0.965)),
    ("percentile", "difference of capped mean", 26):
        ((0.748, 0.858), (0.885, 0.91), (0.898, 0.91), (0.898, 0.952), (0.852, 0.94)),
    ("percentile", "difference of capped mean", 57):
        ((0.81, 0.862), (0.895, 0.92), (0.915, 0.93), (0.922, 0.958), (0.922, 0.965)),
    ("percentile", "difference of capped median", 5):
        ((0.925, 0.965), (0.965, 0.99), (0.968, 0.992), (0.985, 0.998), (0.982, 0.992)),
    ("percentile", "difference of capped median", 26):
        ((0.97, 0.99), (0.985, 0.995), (0.995, 1.0), (0.998, 0.998), (0.995, 0.998)),
    ("percentile", "difference of capped median", 57):
        ((0.992, 1.0), (0.998, 1.0), (0.998, 1.0), (0.998, 1.0), (0.998, 1.0)),
    ("percentile", "difference of capped iqm", 5):
        ((0.818, 0.882), (0.87, 0.935), (0.928, 0.96), (0.95, 0.965), (0.95, 0.98)),
    ("percentile", "difference of capped iqm", 26):
        ((0.865, 0.902), (0.94, 0.95), (0.95, 0.965), (0.958, 0.97), (0.962, 0.978)),
    ("percentile", "difference of capped iqm", 57):
        ((0.875, 0.928), (0.915, 0.95), (0.925, 0.958), (0.945, 0.978), (0.96, 0.978)),
    ("percentile", "difference of capped optimality_gap", 5):
        ((0.588, 0.68), (0.705, 0.75), (0.76, 0.85), (0.785, 0.898), (0.86, 0.928)),
    ("percentile", "difference of capped optimality_gap", 26):
        ((0.71, 0.805), (0.82, 0.9), (0.88, 0.915), (0.908, 0.932), (0.915, 0.952)),
    ("percentile", "difference of capped optimality_gap", 57):
        ((0.778, 0.808), (0.862, 0.885), (0.882, 0.925), (0.928, 0.938), (0.922, 0.94)),
}
# fmt: on
# others: end
"""Method, statistic and number of tasks: for each of `RUNS` the lowest and the highest share of `LEVEL` intervals that
held the true value, over the populations."""


def measured(statistic: str, method: str, tasks: int, runs: int) -> tuple[float, float] | None:
    """Look up how often intervals held the true value.

    Parameters
    ----------
    statistic : str
        "mean", "median", "iqm", "optimality_gap" or "probability_of_improvement"; of two algorithms "difference of
        mean", …; of scores capped after averaging over runs "capped mean", …, and "difference of capped mean", ….
    method : str
        As in `arcademark.metrics.intervals.METHODS`.
    tasks, runs : int
        How many tasks, and runs of each. The nearest number of tasks that was measured (by ratio), and the largest
        number of runs that was measured and is not more, stand for them.

    Returns
    -------
    (float, float) or None
        Lowest and highest share over the populations; None where nothing was measured.
    """
    if runs < RUNS[0]:
        return None
    size, count = nearest(tasks, runs)
    key = method, statistic, size
    found = MEASURED.get(key) or OTHERS.get(key)
    return found[RUNS.index(count)] if found else None


def nearest(tasks: int, runs: int) -> tuple[int, int]:
    """Return the numbers of tasks and of runs that were measured and stand for these; runs are 2 or more."""
    size = min(TASKS, key=lambda count: abs(math.log(count / tasks)))
    return size, max(count for count in RUNS if count <= runs)


def span(shares: tuple[float, float]) -> str:
    """Show shares in percent, without its sign: "93 to 96", or "94" where both come to that."""
    low, high = (f"{share:.0%}".removesuffix("%") for share in shares)
    return low if low == high else f"{low} to {high}"


def warning(statistic: str, method: str, level: float, tasks: int, runs: int) -> str | None:
    """Say what was measured of such intervals, or nothing where they hold the truth often enough.

    Parameters are those of `measured`, and the interval's level: at another than `LEVEL` nothing was measured, which is
    said below `FEW_RUNS`.
    """
    found = measured(statistic, method, tasks, runs) if level == LEVEL else None
    if found is None:
        unknown = f"only {runs} runs a task: how often such an interval holds the true value was not measured"
        return unknown if runs < FEW_RUNS else None
    if found[0] >= ENOUGH:
        return None
    stood, share = nearest(tasks, runs)[1], f"{span(found)} %"
    return f"{runs} runs a task: of simulated {level * 100:g} % intervals from {stood}, {share} held the true value"
