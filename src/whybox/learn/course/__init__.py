"""The course: fifteen chapters that ask before they show, compute what they show, and grade what is handed in."""
