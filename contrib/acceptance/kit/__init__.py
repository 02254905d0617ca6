"""What the acceptance scripts share: processes, servers that misbehave, the relay under test, and the report."""
