"""The networks in other people's pipelines: one module for each library, which alone imports it."""
