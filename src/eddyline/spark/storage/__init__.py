"""Files of a job: its checkpoint, with program, lease and control stream, and the file systems."""
