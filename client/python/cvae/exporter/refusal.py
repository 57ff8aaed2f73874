"""What the exporter cannot take."""


class Refusal(ValueError):
    """A module that the model file's format cannot say. The message names the first module or operation, and why."""
