"""What the 2013 paper prints and states, against the recovered scores (collection "ale-2013")."""
