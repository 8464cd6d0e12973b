"""Message passing on factor graphs of any tractable factors, at any message temperature."""
