"""The Learning page: models fitted to pictures."""
