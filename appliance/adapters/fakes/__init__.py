"""Fakes of every port: they need no hardware, can be driven and can be asked."""
