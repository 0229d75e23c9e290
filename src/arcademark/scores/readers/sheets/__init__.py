"""From the content of a file to a sheet: named columns of cells, whatever form the table has."""
