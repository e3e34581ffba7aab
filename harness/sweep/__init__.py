"""From the words of the command line to a closed sweep."""
