"""The console: a web page that shows an engine or a job while it runs, and changes its queries."""
