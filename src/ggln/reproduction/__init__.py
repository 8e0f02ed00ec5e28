"""The paper's experiments. Each module runs one and returns plain values, which `record` writes as JSON."""
