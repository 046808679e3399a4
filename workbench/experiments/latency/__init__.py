"""How long an assembly takes: stages, cold and warm, closed and open loop, side by side, and how it grows with the store."""
