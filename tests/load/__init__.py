"""How many visitors a server carries: clients of Streamlit's own protocol, and what they measure."""
