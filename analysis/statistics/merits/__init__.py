"""Figures of merit of raters, accuracy and AUC, with the covariances between them."""
