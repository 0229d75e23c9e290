"""What runs say: one analysis of them, and what shows it; of learners, planners and settings too."""
