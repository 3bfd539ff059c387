"""Skills, agent files, project instructions and custom commands in Markdown for hrns."""
