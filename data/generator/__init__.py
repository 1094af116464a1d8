"""The generator of the demo question bank: from a CT to films, questions and answers."""

GENERATOR_VERSION = "1.0.0"
