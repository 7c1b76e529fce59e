"""Benchmarks: what things cost here, as ratios that mean something on another machine too."""
