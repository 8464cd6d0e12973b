"""The Playground, the Race and Home: samplers on one model, watched while they run."""
