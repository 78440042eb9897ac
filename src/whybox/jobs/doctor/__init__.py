"""`doctor`: before any number, which abilities of a target are real and how far its equal calls differ."""

from whybox.jobs.doctor.examination import DoctorOptions, Planned, doctor

__all__ = ["DoctorOptions", "Planned", "doctor"]
