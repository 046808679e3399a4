"""The stages of an assembly as they follow each other; what is timed, recorded and shown goes by these names."""

STAGES = ("embed", "search", "merge", "contradictions", "score", "prompt")
PARTS = (*STAGES, "residual")
"""What adds up to the total, which is timed around the whole; the residual (checks, settings, the result object) is the rest."""
