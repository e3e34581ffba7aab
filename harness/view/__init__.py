"""What people read: the table in the terminal, figures, the leaderboard file."""
