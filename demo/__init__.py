"""The demo: a simulated PR2 is saved, its simulator is killed, and a new one goes on where it was."""
