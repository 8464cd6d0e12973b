"""Streamlit, whatever is watched: pages, their addresses, widgets, the model picker, dialogs, the session."""
