"""What the service costs, beside an application that only echoes: `python -m benchmarks.serve`."""
