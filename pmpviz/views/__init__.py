"""Arrays in; figures, images, payloads and sentences out. Knows no streamlit."""
