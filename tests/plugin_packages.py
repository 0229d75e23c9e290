"""Packages that declare entry points, as pip would have installed them."""


def install(folder, package, declared, module=""):
    """Put a package into a folder of sys.path; `declared` is the text of its entry_points.txt, `module` its code."""
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(declared)
    (folder / f"{package}.py").write_text(module)
