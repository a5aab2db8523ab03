# SPDX-License-Identifier: GPL-2.0-or-later
"""Build kernels with kbuild: one O= directory a configuration, incremental, sandboxed.

A kernel that does not build is a value. Raised are only faults of the configuration
(ConfigError) and of this machine (InfrastructureError).
"""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError, InfrastructureError, InternalError
from rtbisect.kernel import (
    blame,
    compiler_cache,
    config_check,
    confined,
    first_error,
    functions,
    preflight,
    relink,
    toolchain,
)
from rtbisect.kernel.blame import MachineState, TreeError
from rtbisect.kernel.cache import BuildCache, cache_key
from rtbisect.kernel.elf import NotElfError
from rtbisect.kernel.products import ALL_OBJECTS, Products, collect, image_of
from rtbisect.kernel.sandbox import FRAGMENTS, MOD, OUT, SRC, Sandbox
from rtbisect.kernel.settings import (
    ALIGNMENTS,
    OWN_FRAGMENT,
    REPRODUCIBLE,
    SLOTS,
    VARIANT_FRAGMENTS,
    BuildSettings,
)
from rtbisect.kernel.workspace import NotPlainError, Workspace, directory_name, slot_of
from rtbisect.model.code import Build, BuildRequest, BuildStatus, Checkout, Function, Linked
from rtbisect.process import command, locks
from rtbisect.trees.plumbing import Git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from rtbisect.store.artefacts import ArtefactStore


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One build under way: everything that its steps share."""

    request: BuildRequest
    source: Path
    tree: str
    tools: str
    space: Workspace
    box: Sandbox
    #: Descriptors of the locks on the O= directory, and on the source where it has one.
    locks: tuple[int, int | None]
    note: Callable[[str], None]
    #: Begin and deadline of the build, by the monotonic clock.
    begun_s: float
    deadline_s: float

    @property
    def fragments(self) -> tuple[str, ...]:
        more = VARIANT_FRAGMENTS.get(self.request.variant)
        return (*self.request.fragments, *([more] if more else []), OWN_FRAGMENT)


class KernelBuilder:
    """Implements ports.Builder."""

    def __init__(self, settings: BuildSettings, artefacts: ArtefactStore) -> None:
        self._settings = settings
        self._store = artefacts
        self._cache = BuildCache(settings.root / "records", artefacts)

    def preflight(self) -> None:
        """ConfigError (a package is missing) or InfrastructureError (disk, memory)."""
        root = self._settings.root
        preflight.judge(preflight.look(root), root)

    def build(self, source: Checkout, request: BuildRequest, note: Callable[[str], None]) -> Build:
        """Build, or give the recorded build of the same tree and request.

        `note` gets "pgid:<n>" for each process group before it is waited for. Raises
        ConfigError when the configuration drops an option or a host tool is missing,
        InfrastructureError for disk, memory and a source that moved, BusyError when a lock is not
        to be had.
        """
        _check_request(request)
        if request.variant and request.variant not in {*ALIGNMENTS, *VARIANT_FRAGMENTS}:
            return Build(
                revision=request.revision,
                config_name=request.config_name,
                status=BuildStatus.FAILED,
                first_error=f"there is no variant {request.variant!r}",
                variant=request.variant,
            )
        _check_readable(source.path)
        tools, tree = self._tools(request), tree_id(source.path, request.revision)
        key = cache_key(tree, request, tools, self._settings.boot_line)
        if not request.fresh and (recorded := self._cache.get(key, request.revision)):
            return recorded
        with self._task(source, request, tools, note) as task:
            build = self._attempt(task)
        if build.ok:
            self._cache.put(key, build)
        return build

    def link(
        self,
        source: Checkout,
        request: BuildRequest,
        build: Build,
        seed: int,
        note: Callable[[str], None],
    ) -> Linked:
        """Link what `build` of the request was made of anew, with its functions in the order of a
        seed from 1 to 2**31 - 1. Its objects are compiled again where they are no longer there;
        then there is neither kernel nor error where they make another kernel.
        `note` and what is raised as of `build`; ConfigError where no function moves, too.
        """
        begin = time.monotonic()
        _check_readable(source.path)
        tools = self._tools(request)
        if changes := toolchain.changed(build.tools, tools) if build.tools else "":
            raise ConfigError(
                f"other tools link kernels now than when they were built: {changes}",
                "put the old packages back, then `rtbisect resume`; or start a new campaign",
            )
        with self._task(source, request, tools, note) as task:
            if not task.space.has_objects(task.tree, build.signature):
                again = self._attempt(task)
                if again.signature != build.signature:
                    return Linked(error=again.first_error, seconds=time.monotonic() - begin)
            deadline_s = time.monotonic() + self._settings.timeout_s
            linked = self._linked(replace(task, deadline_s=deadline_s), seed)
        if linked.build_id and linked.build_id == build.build_id:
            raise ConfigError(
                f"{request.config_name} at {request.revision[:12]}: functions stay where they are,"
                " whatever the seed of a link is",
                "set build.layout: fixed for this tree",
            )
        return replace(linked, seconds=time.monotonic() - begin)

    def _tools(self, request: BuildRequest) -> str:
        """Looked at each time: an upgrade may come between two builds of a long campaign."""
        if not relink.is_relinked(request.variant):
            return toolchain.look(self._settings.compiler)
        relink.check_linker(toolchain.BIN)
        return toolchain.look(self._settings.compiler, linker=relink.LINKER)

    @contextmanager
    def _task(
        self, source: Checkout, request: BuildRequest, tools: str, note: Callable[[str], None]
    ) -> Iterator[_Task]:
        """An O= directory and this machine, held."""
        place, root, name = source.path, self._settings.root, directory_name(request)
        tree, relinked = tree_id(place, request.revision), relink.is_relinked(request.variant)
        space = slot_of(root, name, tree, SLOTS) if relinked else Workspace(root, name)
        wait_s = self._settings.lock_wait_s
        machine = locks.hold(
            self._settings.machine_lock, wait_s=wait_s, what="this machine", shared=True
        )
        with space.hold(wait_s) as lock, machine:
            begin = time.monotonic()
            # A link of what is there adds next to nothing, and comes before every boot.
            kept = relinked and space.objects == tree
            large = not kept and space.outgrown(self._settings.bounds)
            space.open(place, fresh=request.fresh or large, tools=tools)
            script = compiler_cache.PLAIN if kept else compiler_cache.script(place)
            space.put(space.fragments, compiler_cache.WRAPPER, script).chmod(0o755)
            if relinked:
                space.put(space.fragments, relink.WRAPPER, relink.SCRIPT).chmod(0o755)
            yield _Task(
                request=request,
                source=place,
                tree=tree,
                tools=tools,
                space=space,
                box=self._sandbox(place, space, tools),
                locks=(lock, source.lock),
                note=note,
                begun_s=begin,
                deadline_s=begin + self._settings.timeout_s,
            )

    def files(self, build: Build) -> frozenset[str]:
        """What a build was made from; empty when that is not known."""
        if not build.files:
            return frozenset()
        text = command.decode(self._store.path(build.files).read_bytes())
        return frozenset(command.whole_text(text).split("\n"))

    def changed(self, parent: Build, culprit: Build) -> tuple[Function, ...] | None:
        """Functions of `culprit` whose code `parent` does not have; None when that is not known."""
        if not parent.functions or not culprit.functions:
            return None
        tables = [self._store.path(build.functions).read_bytes() for build in (parent, culprit)]
        return functions.changed(*tables)

    def _attempt(self, task: _Task) -> Build:
        request = task.request
        task.space.set_objects("")
        task.space.mark(f"building {request.revision}")
        suspect = False
        try:
            products, error = self._make(task), ""
        except TreeError as failure:
            products, error, suspect = None, failure.line, failure.suspect
            if failure.large:
                task.space.give_up_space()
        except ConfigError:
            self._check_still(task)
            task.space.unmark()
            raise
        # If somebody changed the source meanwhile, objects of two revisions are mixed: neither the
        # kernel nor its failure counts.
        self._check_still(task)
        # Make that ended by itself has removed its half-written targets, so the
        # objects are kept; after a kill, or when they are not what they should be,
        # DIRTY stays and the next build starts from nothing.
        if not suspect:
            task.space.unmark()
        if products:
            task.space.set_objects(task.tree, products.signature)
        return Build(
            revision=request.revision,
            config_name=request.config_name,
            status=BuildStatus.OK if products else BuildStatus.FAILED,
            compiler=task.tools.partition("\n")[0].partition(": ")[2],
            first_error=error,
            seconds=time.monotonic() - task.begun_s,
            variant=request.variant,
            tools=task.tools,
            **(asdict(products) if products else {}),
        )

    def _linked(self, task: _Task, seed: int) -> Linked:
        """A link in the order of a seed, of objects that are all there."""
        space = task.space
        linked, suspect = Linked(), False
        try:
            order = relink.order(space.plain_file(ALL_OBJECTS), seed)
            space.put(space.fragments, relink.ORDER, order)
            space.settle()
            space.discard(relink.KERNEL)
            space.mark(f"linking {task.request.revision}")
            self._run(task, self._argv(task.request, "bzImage"))
            image, build_id = image_of(space, self._store)
            linked = Linked(kernel=image, build_id=build_id)
        except TreeError as failure:
            linked, suspect = Linked(error=failure.line), failure.suspect
            if failure.large:
                space.give_up_space()
        except (NotPlainError, NotElfError) as error:
            linked, suspect = Linked(error=command.printable(str(error), first_error.LIMIT)), True
        self._check_still(task)
        if not suspect:
            space.unmark()
        return linked

    def _check_still(self, task: _Task) -> None:
        """InfrastructureError when source or tools are others than at the beginning."""
        if _rev_parse(task.source, "HEAD^{tree}") != task.tree:
            raise InfrastructureError(
                f"{task.source} was moved to another revision while it was built",
                "let nobody but rtbisect use this worktree, then run `rtbisect resume`",
            )
        if changes := toolchain.changed(task.tools, self._tools(task.request)):
            raise InfrastructureError(
                f"the tools changed during the build of {task.request.revision[:12]}: {changes}",
                "let the upgrade end, then run `rtbisect resume`",
            )

    def _make(self, task: _Task) -> Products:
        try:
            self._configure(task)
            config = config_check.parse(task.space.text(".config"))
            if relink.is_relinked(task.request.variant):
                relink.check_config(task.request.config_name, config)
                # Of another order, make would take it for the one that is wanted.
                task.space.discard(relink.KERNEL)
            with_modules = config.get("CONFIG_MODULES") == "y"
            if task.request.modules and not with_modules:
                raise ConfigError(
                    f"{task.request.config_name} has no CONFIG_MODULES, a suite brings a module",
                    "add CONFIG_MODULES=y to a fragment",
                )
            # `modules` also writes Module.symvers, which our own modules are linked with.
            targets = ["bzImage", *(["modules"] if with_modules else [])]
            self._run(task, self._argv(task.request, *targets))
            if relink.is_relinked(task.request.variant):
                name = f"{task.request.config_name} at {task.request.revision[:12]}"
                relink.check_linked(name, task.space.plain_file(relink.KERNEL))
            if task.request.modules:
                self._make_modules(task)
            self._verify_config(task)
            boot_line = self._settings.boot_line
            return collect(task.space, self._store, boot_line, with_modules=with_modules)
        except (NotPlainError, NotElfError) as error:
            line = command.printable(str(error), first_error.LIMIT)
            raise TreeError(line, suspect=True) from error

    def _configure(self, task: _Task) -> None:
        """Make .config, unless it would be made from the same questions and answers."""
        listing = Git(task.source)("ls-tree", "-r", "-z", "--full-tree", task.tree)
        key = config_check.config_key(task.request.base, task.fragments, task.tools, listing)
        if task.space.stamp().get("config_key") != key:
            task.space.set_config_key("")
            names = [f"{number:02}.config" for number in range(len(task.fragments))]
            for name, text in zip(names, task.fragments, strict=True):
                task.space.put(task.space.fragments, name, text)
            self._run(task, self._argv(task.request, task.request.base))
            merge = ["/bin/sh", f"{SRC}/scripts/kconfig/merge_config.sh", "-m", "-O", OUT]
            self._run(task, [*merge, f"{OUT}/.config", *(f"{FRAGMENTS}/{name}" for name in names)])
            self._run(task, self._argv(task.request, "olddefconfig"))
        self._verify_config(task)
        task.space.set_config_key(key)
        task.space.set_passed(task.source)

    @staticmethod
    def _verify_config(task: _Task) -> None:
        """Every option as asked; else ConfigError, or the tree's own failure where another
        revision of it has had them all: then the question is right.
        """
        lost = config_check.dropped(task.fragments, task.space.text(".config"))
        if not lost:
            return
        task.space.set_config_key("")
        options = "; ".join(command.printable(option, 120) for option in lost)
        if task.space.has_passed(task.source):
            raise TreeError(options[: first_error.LIMIT])
        raise ConfigError(
            f"{task.request.config_name} at {task.request.revision[:12]}: {options}",
            "correct the fragment: the option is unknown there or depends on another one",
        )

    def _make_modules(self, task: _Task) -> None:
        """Our own modules, against the kernel that is built; ConfigError when they do not fit.

        Charged to the tree, every revision since a change of the kernel's interface would
        look as if it did not build.
        """
        for name, text in module_sources(task.request):
            task.space.put(task.space.modules, name, text)
        try:
            self._run(task, self._argv(task.request, f"M={MOD}", "modules"))
        except TreeError as failure:
            if failure.suspect:
                raise
            names = [name for name, _ in task.request.modules]
            raise ConfigError(
                f"the suite's module ({', '.join(names)}) does not build at"
                f" {task.request.revision[:12]}: {failure.line}",
                "adapt the module to this kernel, or take its suite out of the test plan",
            ) from failure

    def _argv(self, request: BuildRequest, *targets: str) -> list[str]:
        """A make command line; LOCALVERSION= keeps a "+" out of the release string."""
        compiler = f"{FRAGMENTS}/{compiler_cache.WRAPPER} {self._settings.compiler}"
        words = ["make", "-s", "-C", SRC, f"O={OUT}", f"-j{self._settings.make_jobs}"]
        words += ["LOCALVERSION=", f"CC={compiler}", "HOSTCC=ccache gcc"]
        return [*words, *targets, *_flags(request)]

    def _run(self, task: _Task, argv: Sequence[str]) -> None:
        """One command in the sandbox; returns when it succeeded, and nothing of it lives.

        The lock of the O= directory goes in, so that whoever is left after a kill keeps
        it; foreign code that lets go of it harms only objects that are DIRTY anyway. The
        lock of the source is held by the sandbox, out of reach of what runs in it: without it
        somebody would move the source. The machine's lock stays out: letting go of that one
        would disturb a measurement.
        """
        start = task.space.log.stat().st_size
        lock, source_lock = task.locks
        machine = MachineState.before(task.space.root)
        confined_run = confined.run(
            task.box,
            argv,
            held=source_lock,
            cwd=task.space.root,
            timeout_s=max(1.0, task.deadline_s - time.monotonic()),
            log=task.space.log,
            pass_fds=(lock,),
            on_start=lambda pid: task.note(f"pgid:{pid}"),
        )
        done = confined_run.done
        if confined_run.exceeded:
            raise TreeError(confined_run.exceeded, suspect=True, large=True)
        if done.ok:
            return
        if done.timed_out:
            limit = self._settings.timeout_s
            raise TreeError(f"the build ran into its timeout of {limit:.0f} s", suspect=True)
        if done.returncode < 0 or (done.returncode > 128 and machine.out_of_memory()):
            raise InfrastructureError(
                f"the build of {task.request.revision[:12]} was killed (status {done.returncode})",
                f"see {task.space.log} and the kernel's log of this machine",
            )
        if done.returncode > 128:
            # Nobody outside sees the processes in there, but what the tree starts does.
            number = done.returncode - 128
            raise TreeError(f"make was ended by signal {number}", suspect=True)
        error = first_error.find(task.space.log_text(start))
        owned = blame.checked(error, machine, lambda: confined.works(task.box, task.space.log))
        raise blame.fault(owned, task.request.revision)

    def _sandbox(self, source: Path, space: Workspace, tools: str) -> Sandbox:
        return Sandbox(
            source=source,
            out=space.out,
            modules=space.modules,
            fragments=space.fragments,
            ccache=space.ccache,
            env=REPRODUCIBLE | compiler_cache.environment(tools),
            bounds=self._settings.bounds,
            uid=space.uid,
        )


def _flags(request: BuildRequest) -> list[str]:
    """What a variant adds to the command line; kbuild puts KCFLAGS behind its own flags."""
    if relink.is_relinked(request.variant):
        return list(relink.FLAGS)
    size = ALIGNMENTS.get(request.variant)
    return [f"KCFLAGS=-falign-functions={size}"] if size else []


def module_sources(request: BuildRequest) -> tuple[tuple[str, str], ...]:
    """Files of the suites' modules, by name and text: as make reads a folder of modules."""
    names = [name for name, _ in request.modules]
    if not names or {"Kbuild", "Makefile"} & set(names):
        return request.modules
    objects = " ".join(f"{name[:-2]}.o" for name in names if name.endswith(".c"))
    return (*request.modules, ("Kbuild", f"obj-m := {objects}\n"))


def _check_request(request: BuildRequest) -> None:
    if not re.fullmatch(r"\w[\w.-]*config", request.base):
        raise ConfigError(f"{request.base!r} is not a configuration target", "use `tinyconfig`")
    for name, _ in request.modules:
        if not re.fullmatch(r"\w[\w.-]*", name) or os.sep in name:
            raise InternalError(f"not the name of a module source: {name!r}")


def tree_id(source: Path, revision: str) -> str:
    """Id of the revision's tree object; InternalError when `source` shows another tree."""
    wanted = _rev_parse(source, f"{revision}^{{tree}}")
    shown = _rev_parse(source, "HEAD^{tree}")
    if wanted != shown:
        raise InternalError(f"{source} is not checked out at {revision[:12]}")
    return wanted


def _rev_parse(source: Path, name: str) -> str:
    done = Git(source).try_("rev-parse", "--verify", "--quiet", "--end-of-options", name)
    if not done.ok:
        raise ConfigError(f"{source} does not know {name}", "is it a git work tree of the kernel?")
    return done.stdout.strip()


def _check_readable(source: Path) -> None:
    """The sandbox reads the source as somebody else; ConfigError when that is forbidden."""
    makefile = source / "Makefile"
    if not makefile.is_file():
        raise ConfigError(f"{source} has no Makefile", "is it a kernel tree?")
    if not source.stat().st_mode & 0o001 or not makefile.stat().st_mode & 0o004:
        raise ConfigError(
            f"{source} cannot be read by the user that builds",
            "check it out with umask 022",
        )
