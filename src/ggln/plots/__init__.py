"""Pictures, drawn from results and fitted models; nothing here trains."""
