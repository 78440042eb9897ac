"""Jobs: one verb, one report. They run models through `whybox.model` and fill documents of `whybox.report`."""
