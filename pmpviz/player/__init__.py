"""What browsers are sent: the wire format, updates, words and pictures, and the component that plays them (js/)."""
