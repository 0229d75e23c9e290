"""Names of algorithms that are to be text wherever they stand."""

HOSTILE = (
    "<img src=x onerror=document.title='hacked'>",
    "</script><script>document.title='hacked'</script>",
    "=HYPERLINK(1)",
    "a\u202eb",
    "__proto__",
)
