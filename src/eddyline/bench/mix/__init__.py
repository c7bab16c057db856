"""``eddyline bench mix``: alerts, panels and absences of all kinds, many beside one."""
