"""The only package besides the pages that imports streamlit: settings and links, controls, code, sharing, export."""
