"""Text and ids: tokenizers, byte-exact token views, named segments, chat templates in a sandbox."""
