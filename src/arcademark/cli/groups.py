"""Groups of commands that suggest the closest for an unknown one."""

from __future__ import annotations

import click

from arcademark.errors import UnknownNameError


class Group(click.Group):
    """A group whose unknown commands are refused with the closest known one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown command."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise UnknownNameError(f"{self.name} command", args[0], self.commands)
        return super().resolve_command(ctx, args)
