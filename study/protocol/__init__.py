"""The protocol of a study, and what is derived from it: the sample, the lists, the workload."""
