"""``ctx.ensure_sandbox()``: programs run in a worker of their own, away from the box."""
