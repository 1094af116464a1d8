"""The protocol and what follows from it alone: questionnaire, sampling, assignment, workload."""
