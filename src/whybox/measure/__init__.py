"""What a trace shows: attention by named segment, and both answers through the layers."""
