"""From measured effects to causes. A cause is named only when undoing it turned the answer right."""
