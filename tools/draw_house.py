# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws docs/architecture.svg: the rooms on their layers, and the road of a bisect request.

    .venv/bin/python tools/draw_house.py

From the code come the layers (the contract of import-linter), the arrows between rooms, what a room
touches, and which ports of `model/ports.py` it is an adapter of. Written here are where a room
stands on its layer, words for it, and the road, whose every leg has to be an import or a port.
"""

from __future__ import annotations

import ast
import itertools
import sys
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from measure_house import (
    KIT,
    PROGRAM,
    ROOT,
    between,
    imports_of,
    layers_of,
    of_kit,
    room_of,
    sources_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from measure_house import Edges, Source

PICTURE = ROOT / "docs/architecture.svg"


@dataclass(frozen=True, slots=True)
class Room:
    """Where a room stands (left and right edge), what kind it is of, and what lives in it."""

    left: int
    right: int
    kind: str
    words: str

    @property
    def middle(self) -> int:
        return (self.left + self.right) // 2


@dataclass(frozen=True, slots=True)
class Stop:
    """A room on the road, its file there, and who calls it (perhaps by a port); `also`
    are rooms that it uses for this.
    """

    room: str
    file: str
    by: str
    words: str
    also: tuple[str, ...] = ()


ROOMS = {
    "cli": Room(24, 976, "ask", "the commands; nothing else prints or exits"),
    "mail": Room(560, 976, "ask", "from a draft to people and back"),
    "acceptance": Room(340, 540, "ask", "is a host fit to measure?"),
    "evidence": Room(560, 776, "ask", "what others judge again"),
    "campaign": Room(24, 776, "ask", "a request becomes a session; knows all adapters"),
    "report": Room(806, 976, "adapter", "what a person reads"),
    "lab": Room(478, 638, "adapter", "a kernel boots"),
    "program": Room(650, 776, "adapter", "a command runs"),
    "kernel": Room(330, 456, "adapter", "a kernel is built"),
    "trees": Room(194, 324, "adapter", "git, one worktree"),
    "store": Room(650, 776, "adapter", "what is kept"),
    "config": Room(64, 178, "ask", "the site file"),
    "words": Room(806, 976, "pure", "the one that speaks"),
    "pipeline": Room(24, 976, "story", "compare, search, prove"),
    "search": Room(24, 976, "pure", "what to test next, and what that says"),
    "judge": Room(24, 976, "pure", "is a kernel worse, why, and is that believed"),
    "suites": Room(24, 976, "pure", "what a boot measures, one suite a file"),
    "model": Room(24, 638, "ground", "values and ports"),
    "process": Room(650, 976, "ground", "commands, locks, HTTP"),
    "errors": Room(24, 976, "ground", "each says who has to act"),
}

ROAD = (
    Stop("cli", "cli/bisect.py", "", "a tree, a good and a bad revision are asked for"),
    Stop("campaign", "campaign/session.py", "cli", "both become shas; the site makes the ports",
         ("config",)),
    Stop("pipeline", "pipeline/bisect.py", "campaign", "the story begins; each effect is a step"),
    Stop("trees", "trees/git.py", "pipeline", "the candidates between the ends"),
    Stop("search", "search/engine.py", "pipeline", "the trial that tells most for its cost"),
    Stop("lab", "lab/kernel_on_host.py", "pipeline", "it boots; suites make figures of its files",
         ("suites",)),
    Stop("kernel", "kernel/kbuild.py", "lab", "before that it is built, once, in a sandbox"),
    Stop("store", "store/journal.py", "pipeline", "each step is kept before the next one begins"),
    Stop("judge", "judge/verdict.py", "pipeline", "worse on fresh boots? why, and is it believed?"),
    Stop("report", "report/draft.py", "pipeline", "a draft, for the operator alone"),
    Stop("mail", "mail/approve.py", "cli", "a person has read it; mail/send.py sends it, once"),
)  # fmt: skip

#: Their stop is on the way down to the pipeline.
ON_THE_LEFT = ("cli", "campaign", "pipeline")
#: From here on nobody calls back: what was made waits for a person.
LAST = next(stop for stop in ROAD if stop.room == "report")

#: Calls and imports by which a room touches files, commands and the network.
FILES = {
    *("open", "read_text", "read_bytes", "write_text", "write_bytes", "write_whole", "mkdir"),
    *("iterdir", "glob", "rglob", "unlink", "rmtree", "copyfile", "fdopen", "is_file"),
}
NETWORK = {"requests", "socket", "smtplib", "imaplib", "http.server", "urllib.request"}


# ------------------------------------------------------------------ what the code says


@dataclass(frozen=True, slots=True)
class House:
    """What the picture shows of the code. Layers highest first; ports and touches by room."""

    layers: list[list[str]]
    edges: Edges
    ports: dict[str, list[str]]
    touches: dict[str, list[str]]


def house_of(root: Path) -> House:
    """The house as its code is, checked."""
    sources = [each for each in sources_of(root) if each.module.startswith(f"{PROGRAM}.")]
    edges = between({edge for edge in imports_of(root) if not any(map(of_kit, edge))})
    house = House(layers_of(root), edges, ports_of(sources), touches_of(sources))
    check(house, root)
    return house


def check(house: House, root: Path) -> None:
    """ValueError where the words above do not fit to the house of this checkout."""
    if lost := {name for names in house.layers for name in names} ^ set(ROOMS):
        raise ValueError(f"ROOMS and the contract in pyproject.toml differ in {sorted(lost)}")
    for stop in ROAD:
        if not (root / "bisect" / PROGRAM / stop.file).is_file():
            raise ValueError(f"the road stops at {stop.file}, which is not there")
        called = not stop.by or (stop.by, stop.room) in house.edges
        by_port = stop.by in {"pipeline", *house.ports} and house.ports.get(stop.room)
        if not called and not by_port:
            raise ValueError(f"the road goes from {stop.by} to {stop.room}: no import, no port")
        if idle := [name for name in stop.also if (stop.room, name) not in house.edges]:
            raise ValueError(f"{stop.room} imports nothing of {idle}")


def ports_of(sources: list[Source]) -> dict[str, list[str]]:
    """Ports of which a room has an adapter: a class, no fake, with all that the protocol has."""
    protocols = {
        name: members
        for name, members in _classes(sources, "rtbisect.model.ports")
        if name not in ("Ports", "Note", "NoNote", "KeptNote")
    }
    found: dict[str, set[str]] = {}
    for room, each in ROOMS.items():
        if each.kind == "adapter":
            for _, members in _classes(sources, f"{PROGRAM}.{room}"):
                fits = {port for port, needs in protocols.items() if needs <= members}
                # What offers a wider port is none of a narrower one.
                wide = {p for p in fits if not any(protocols[p] < protocols[q] for q in fits)}
                found.setdefault(room, set()).update(wide)
    return {room: sorted(ports) for room, ports in found.items() if ports}


def _classes(sources: list[Source], prefix: str) -> Iterator[tuple[str, set[str]]]:
    """Public classes of modules below a name, with the public names that they have."""
    for source in sources:
        if f"{source.module}.".startswith(f"{prefix}.") and not source.module.endswith(".fake"):
            for node in source.nodes(ast.ClassDef):
                names = {name for each in ast.walk(node) for name in _members(each)}
                yield node.name, {name for name in names if name[0] != "_"}


def _members(node: ast.AST) -> Iterator[str]:
    """An attribute by its name, a method with each number of arguments that it takes."""
    if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.attr if isinstance(node, ast.Attribute) else node.id
    if isinstance(node, ast.FunctionDef):
        if any(ast.unparse(each) == "property" for each in node.decorator_list):
            yield node.name
        else:
            most = len(node.args.args) - 1
            fewest = most - len(node.args.defaults)
            yield from (f"{node.name}/{number}" for number in range(fewest, most + 1))


def touches_of(sources: list[Source]) -> dict[str, list[str]]:
    """What a room does itself with the world outside the process: files, commands, network."""
    found: dict[str, set[str]] = {room: set() for room in ROOMS}
    for source in sources:
        runners = {"command.run", "os.execv", "os.execvp"}
        if f"{PROGRAM}.process.command.run" in _imported(source):
            runners.add("run")
        for node in source.nodes(ast.Call, ast.Import, ast.ImportFrom):
            found[room_of(source.module)] |= set(_touched(node, runners))
    return {room: sorted(what) for room, what in found.items()}


def _imported(source: Source) -> set[str]:
    return {
        f"{node.module}.{alias.name}"
        for node in source.nodes(ast.ImportFrom)
        for alias in node.names
    }


def _touched(node: ast.AST, runners: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        names = {alias.name for alias in node.names}
    elif isinstance(node, ast.ImportFrom):
        names = {node.module or ""}
    else:
        called = ast.unparse(node.func)
        if called.split(".")[-1] in FILES:
            yield "files"
        if called in runners:
            yield "commands"
        return
    if names & NETWORK:
        yield "network"
    if "subprocess" in names:
        yield "commands"


# ------------------------------------------------------------------ the picture

WIDTH = 1000
TOP = 116
ROAD_X = 44
HIGH, TALL, FLAT = 40, 66, 26
GAP = 22

STYLE = """
text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;
font-size:12px;fill:#24292f}
.t{font-size:17px;font-weight:600}.n{font-size:14px;font-weight:600}.s{fill:#57606a;font-size:11px}
.bg{fill:#fff}.ask{fill:#eef1f5;stroke:#8c96a3}.adapter{fill:#fff3da;stroke:#c48a1c}
.story{fill:#ece6fb;stroke:#7a5fc0}.pure{fill:#e2f3e4;stroke:#4d9a58}
.ground{fill:#eceae6;stroke:#938b7d}.out{fill:none;stroke:#8c96a3;stroke-dasharray:4 3}
.port{fill:#fff;stroke:#c48a1c}
.road{fill:none;stroke:#c22f4e;stroke-width:3.5;stroke-linejoin:round}
.wait{stroke-dasharray:7 5}.loop{stroke-width:2}
.b,.ra{fill:#c22f4e}.h{fill:#fff;stroke:#c22f4e;stroke-width:1.5}
.bt{fill:#fff;font-size:11px;font-weight:700;text-anchor:middle}.ht{fill:#c22f4e}
.c{text-anchor:middle}.e{text-anchor:end}.i{stroke:#a8b0ba;stroke-width:1.2;fill:none}
.ia{fill:#a8b0ba}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9aa5b1}.bg{fill:#0d1117}
.ask{fill:#1c232c;stroke:#6b7683}.adapter{fill:#35280d;stroke:#c99a3c}.story{fill:#2a2145;stroke:#a78bfa}
.pure{fill:#12301a;stroke:#57ab5f}.ground{fill:#26231f;stroke:#8d8577}.port{fill:#0d1117;stroke:#c99a3c}
.road{stroke:#ff6b86}.b,.ra{fill:#ff6b86}.bt{fill:#0d1117}.h{fill:#0d1117;stroke:#ff6b86}.ht{fill:#ff6b86}
.i{stroke:#56606b}.ia{fill:#56606b}}
"""


def words(x: float, y: float, said: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}"{named}>{escape(said)}</text>'


def box(left: float, top: float, right: float, high: float, kind: str) -> str:
    place = f'x="{left:g}" y="{top:g}" width="{right - left:g}" height="{high:g}"'
    return f'<rect {place} rx="{9 if kind == "port" else 6}" class="{kind}"/>'


def badge(x: float, y: float, number: int, *, hollow: bool = False) -> str:
    """The number of a stop; a hollow one stands where a room has a part in the stop of another."""
    kinds = ("h", "bt ht") if hollow else ("b", "bt")
    return f'<circle cx="{x:g}" cy="{y:g}" r="9.5" class="{kinds[0]}"/>' + words(
        x, y + 4, str(number), kinds[1]
    )


def pill(x: float, y: float, said: str) -> str:
    half = 7 + 3.4 * len(said)
    return box(x - half, y - 9, x + half, 18, "port") + words(x, y + 4, said, "s c")


def head(x: float, y: float, *, up: bool) -> str:
    """The tip of an arrow at y."""
    slope = 9 if up else -9
    return f'<path d="M{x - 6:g} {y + slope:g}h12l-6 {-slope}z" class="ra"/>'


class Picture:
    """Places everything from top to bottom."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.top: dict[str, float] = {}
        self.high: dict[str, float] = {}
        y = float(TOP)
        for names in house.layers:
            high = self._height(names)
            for name in names:
                self.top[name], self.high[name] = y, high
            y += high + GAP + (14 if "trees" in names or "pipeline" in names else 0)
        self.bottom = y

    def _height(self, names: list[str]) -> float:
        if names == ["errors"]:
            return FLAT
        tall = any(ROOMS[name].kind in {"adapter", "story"} for name in names)
        return TALL if tall else HIGH

    def end(self, name: str) -> float:
        return self.top[name] + self.high[name]

    def rooms(self) -> Iterator[str]:
        for names in self.house.layers:
            for name in names:
                yield from self._room(name, ROOMS[name])

    def _room(self, name: str, room: Room) -> Iterator[str]:
        top, high = self.top[name], self.high[name]
        yield box(room.left, top, room.right, high, room.kind)
        touched = " · ".join(self.house.touches[name]) or "nothing"
        x = room.left + (12 if name not in ON_THE_LEFT else 38)
        if name == "config" or room.kind == "adapter":
            yield words(x, top + 19, name, "n")
            yield words(x, top + 35, room.words)
            yield words(x, top + 50, touched, "s")
        elif high == TALL or room.right - room.left < 500:
            yield words(x, top + 17, name, "n")
            yield words(x, top + 33, room.words)
            yield words(room.right - 12, top + 17, touched, "s e")
        else:
            base = top + high / 2 + 5
            yield words(x, base, name, "n")
            yield words(x + 84, base, room.words)
            # The way out to people goes through the commands.
            end = room.right if name != "cli" else ROOMS["report"].left + 40
            yield words(end - 12, base, touched, "s e")

    def imports(self) -> Iterator[str]:
        """Arrows of imports from a layer to the next one."""
        for upper, lower in itertools.pairwise(self.house.layers):
            for pair in itertools.product(upper, lower):
                if pair in self.house.edges:
                    yield self._arrow(*pair)

    def _arrow(self, one: str, other: str) -> str:
        a, b = ROOMS[one], ROOMS[other]
        left, right = max(a.left, b.left), min(a.right, b.right)
        start, end = self.end(one), self.top[other]
        if right - left > 30:
            x = (left + right) / 2 + (34 if right - left > 60 else 0)
            road = f"M{x:g} {start:g}V{end - 5:g}"
        else:
            x = b.middle + (20 if a.middle > b.middle else -20)
            road = f"M{a.middle + (-20 if a.middle > b.middle else 20)} {start:g}L{x:g} {end - 5:g}"
        return f'<path d="{road}" class="i"/><path d="M{x - 4:g} {end - 6:g}h8l-4 6z" class="ia"/>'

    def outside(self) -> Iterator[str]:
        yield words(24, 32, "rtbisect: its rooms, and the road of a bisect request", "t")
        rule = "A room imports what stands below it, never what stands above."
        yield words(24, 52, f"{rule} The pipeline reaches the adapters above it by ports.", "s")
        yield words(24, 84, "a person: rtbisect bisect TREE --good .. --bad ..")
        yield box(400, 68, 720, 28, "out")
        yield words(560, 86, f"{KIT}: demos and a lab at home, plugged in", "s c")
        yield f'<path d="M560 96V{TOP:g}" class="out"/>'
        yield words(ROOMS["report"].middle, 84, "people and lists", "c")

    def road(self) -> Iterator[str]:
        """The red line, and a number at each of its stops."""
        number = {stop.room: n for n, stop in enumerate(ROAD, 1)}
        y = self.end("pipeline") - 18
        line, over = [f"M{ROAD_X} 92V{y:g}"], []
        for stop in (each for each in ROAD if each.by == "pipeline"):
            room, ports = ROOMS[stop.room], self.house.ports.get(stop.room)
            if ports:
                x, turn = room.middle, self.end(stop.room)
                over.append(self._pill(stop.room))
                over.append(badge(room.right - 18, self.top[stop.room] + 16, number[stop.room]))
            else:
                x, turn = self._below(stop), self.top[stop.room]
                over.append(badge(x, turn, number[stop.room]))
            back = f"H{x + 5:g}V{y:g}" if stop is not LAST else ""
            line.append(f"H{x - 5:g}V{turn:g}{back}")
            over.append(head(x - 5, turn + 11 if ports else turn - 11, up=bool(ports)))
        for stop in (each for each in ROAD if each.by in self.house.ports):
            yield from self._aside(stop, number[stop.room])
        called = {stop.room for stop in ROAD if stop.by == "pipeline"}
        over += [self._pill(name) for name in sorted(self.house.ports.keys() - called)]
        yield f'<path d="{"".join(line)}" class="road"/>'
        yield from self._loop(y)
        yield from self._to_people()
        yield from over
        for name in ON_THE_LEFT:
            middle = y if name == "pipeline" else self.top[name] + self.high[name] / 2
            yield badge(ROAD_X, middle, number[name])
        for stop in ROAD:
            for name in stop.also:
                inside = ROOMS[name].kind == "ask"
                x = ROOMS[name].right - 18 if inside else ROOMS[stop.room].middle
                there = self.top[name] + (16 if inside else 0)
                yield badge(x, there, number[stop.room], hollow=True)

    def _aside(self, stop: Stop, number: int) -> Iterator[str]:
        """From an adapter to the one on its left that it calls by a port."""
        left, right = ROOMS[stop.room].right, ROOMS[stop.by].left
        y = self.top[stop.room] + 40
        yield f'<path d="M{right} {y:g}H{left + 4}M{left} {y + 9:g}H{right}" class="road"/>'
        yield f'<path d="M{left + 8} {y - 5:g}v10l-8 -5z" class="ra"/>'
        yield badge(left - 18, y - 24, number)

    def _pill(self, name: str) -> str:
        """The ports that a room has adapters of."""
        return pill(ROOMS[name].middle, self.end(name), " · ".join(self.house.ports[name]))

    def _to_people(self) -> Iterator[str]:
        """From the draft, which waits for a person, through the mail and out."""
        x, end = ROOMS["report"].middle, self.end("mail")
        yield f'<path d="M{x} {self.top["report"]:g}V{end:g}" class="road wait"/>'
        yield f'<path d="M{x} {self.top["mail"]:g}V98" class="road"/>' + head(x, 90, up=True)
        for n, said in enumerate(("waits until", "a person", "approves")):
            yield words(x - 12, self.top["acceptance"] + 16 + 15 * n, said, "s e")
        yield badge(x, end, len(ROAD))

    def _below(self, stop: Stop) -> float:
        """Where the road goes down: between the stops before and behind it."""
        place = ROAD.index(stop)
        return (ROOMS[ROAD[place - 1].room].middle + ROOMS[ROAD[place + 1].room].middle) / 2

    def _loop(self, y: float) -> Iterator[str]:
        search = next(stop for stop in ROAD if stop.room == "search")
        left, right = self._below(search) + 22, ROOMS["lab"].middle + 30
        low = self.end("pipeline") + 11
        yield f'<path d="M{right:g} {y:g}V{low:g}H{left:g}V{y + 9:g}" class="road loop"/>'
        yield head(left, y + 2, up=True)
        yield words(right + 8, low + 4, "again, until one commit is left", "s")

    def stops(self) -> Iterator[str]:
        """What happens at each stop, in two columns."""
        rows = (len(ROAD) + 1) // 2
        for n, stop in enumerate(ROAD):
            x, y = 34 + n // rows * 490, self.bottom + 14 + n % rows * 36
            yield badge(x, y, n + 1)
            yield words(x + 18, y - 2, stop.file, "n")
            yield words(x + 18, y + 13, stop.words)

    def legend(self, y: float) -> Iterator[str]:
        kinds = (
            ("ask", "asks"),
            ("adapter", "adapter behind a port"),
            ("story", "story"),
            ("pure", "pure"),
            ("ground", "ground"),
        )
        x = 26.0
        for kind, said in kinds:
            yield box(x, y - 11, x + 18, 14, kind)
            yield words(x + 24, y, said, "s")
            x += 44 + 6.2 * len(said)
        said = "grey: what a room itself touches; grey arrows: imports from layer to layer"
        yield words(x + 6, y, said, "s")

    def svg(self) -> str:
        rows = (len(ROAD) + 1) // 2
        legend = self.bottom + 20 + rows * 36
        high = legend + 18
        said = "; ".join(f"{n}. {stop.file}: {stop.words}" for n, stop in enumerate(ROAD, 1))
        layers = "; ".join(", ".join(names) for names in self.house.layers)
        size = f'viewBox="0 0 {WIDTH} {high:g}" width="{WIDTH}" height="{high:g}"'
        about = 'role="img" aria-labelledby="title desc"'
        parts = [
            "<!-- SPDX-License-Identifier: GPL-2.0-or-later; made by tools/draw_house.py -->",
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {about}>',
            '<title id="title">The rooms of rtbisect, and the road of a bisect request</title>',
            f'<desc id="desc">Layers, highest first: {layers}. The road: {escape(said)}.</desc>',
            f"<style>{STYLE}</style>",
            box(0, 0, WIDTH, high, "bg"),
            *self.outside(),
            *self.imports(),
            *self.rooms(),
            *self.road(),
            *self.stops(),
            *self.legend(legend),
            "</svg>",
        ]
        return "\n".join([*parts, ""])


def picture(root: Path) -> str:
    """The picture of a checkout; the same code makes the same bytes."""
    return Picture(house_of(root)).svg()


def main() -> int:
    PICTURE.write_text(picture(ROOT), "utf-8")
    print(PICTURE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
