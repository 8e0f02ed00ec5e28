"""Other models and policies, which experiments compare with; no user of the library imports them."""
