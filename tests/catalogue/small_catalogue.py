"""The texts of a small catalogue."""

SOURCES = """
[doe-2020]
authors = "Doe"
title = "A Paper"
venue = "Somewhere"
year = 2020
"""
ENTRY = """
[Alpha]
kind = "value-based"
paper = "doe-2020"
source = "doe-2020"
table = "Table 1"
training_frames = 1_000
protocol = "dqn-2015"
reported = "evaluation"
hand = "first"
settings = { "frame stack" = 4 }
assumed = ["frame stack"]
"""
LOST = """
[Beta]
kind = "reference"
paper = ""
source = "doe-2020"
table = "Table 2"
protocol = ""
reported = "unknown"
hand = "second"
read_in = "a copy"
unavailable = "burnt"
"""
SCORES = """algorithm,task,score,uncertainty,uncertainty_kind,runs,note
Alpha,pong,-20.5,0.5,standard deviation over 3 runs,3,
Alpha,qbert,1000,,,,doubtful
"""
