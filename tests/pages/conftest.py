from reports import golden, report_one, report_two  # noqa: F401 (fixtures)
