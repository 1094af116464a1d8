"""The protocol and everything derived from it: questionnaire, sampling, assignment, workload."""
