"""Tables: files of named columns in, numbers for the networks out, read piece by piece."""
