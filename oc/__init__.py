"""OpenClaw's context memory as composable commands over plain files."""

__version__ = "0.1.0"
