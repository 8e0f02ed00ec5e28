"""The policies that the paper compares with (Riquelme et al., 2018), all seeds of one policy at once."""
