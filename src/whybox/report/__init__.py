"""Reports: the machine documents, and how terminal and page show them. A report never runs a model."""
