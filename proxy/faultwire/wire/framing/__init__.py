"""How a body is divided: content codings, SSE, lines, frames."""
