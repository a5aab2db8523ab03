# SPDX-License-Identifier: GPL-2.0-or-later
"""What a command line asks for, made exact before anything is spent: full shas of its
revisions, and metrics that exist.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.campaign.trees import command_tree, head_of, tree_of
from rtbisect.config.paths import data
from rtbisect.config.thresholds import choose_threshold, load_thresholds
from rtbisect.errors import ConfigError
from rtbisect.model.code import WHOLE, Narrowing
from rtbisect.model.command import Extra
from rtbisect.model.kinds.boot import Commands
from rtbisect.process.command import is_text, printable
from rtbisect.search.ancestry import check_size
from rtbisect.store.artefacts import ArtefactStore
from rtbisect.store.db import make_folder
from rtbisect.trees.carry import changed_names
from rtbisect.trees.ignores import as_its_owner_ignores
from rtbisect.trees.overlay import pack
from rtbisect.trees.plumbing import FULL_SHA, Git
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.config.kernelci import BuildTarget
    from rtbisect.config.site_file import Site
    from rtbisect.model.campaign import CampaignRequest, Threshold
    from rtbisect.model.finding import Finding
    from rtbisect.trees.git import GitTree

#: Revisions that depend on the checkout that one stands in.
MOVING = re.compile(r"(@|(?:[A-Z]+_)?HEAD)(?![A-Za-z0-9_./-])")

#: Words that only a shell understands.
_OF_SHELL = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"})

#: The suite that `try` judges when none is named.
DEFAULT_SUITE = "ipi"


def _target_and_tree(state: Path, site: Site, tree: str) -> tuple[BuildTarget, GitTree]:
    target = site.target(tree)
    make_folder(state)
    return target, tree_of(state, target)


def base_and_tip(
    state: Path, site: Site, tree: str, base: str | None, tip: str | None
) -> tuple[str, str]:
    """Shas to compare: the branch head against a base, else against the merge base with the
    reference branch. Refs are read with `git ls-remote`.
    """
    target, git = _target_and_tree(state, site, tree)
    new = _resolve_sha(git, target, tip) if tip else head_of(git, target)
    old = _resolve_sha(git, target, base) if base else _reference_base(git, target, site, new)
    if old == new:
        raise ConfigError(
            f"base and tip are the same commit {new[:12]}", "give two different revisions"
        )
    return old, new


def base_for_watch(
    state: Path, site: Site, tree: str, judged: Sequence[str]
) -> tuple[str | None, str]:
    """The branch head, after what it is compared with: the newest of the `judged` revisions, or
    where a rebased branch left it; at first sight the merge base with the reference branch, None
    where there is no such branch or it has the whole of this one. Both are the same when there is
    nothing new.
    """
    target, git = _target_and_tree(state, site, tree)
    new = head_of(git, target)
    for sha in reversed(judged):
        # A rewritten branch may have taken its old commits away.
        with suppress(ConfigError):
            return git.merge_base(git.resolve(sha), new), new
    if not target.reference_branch:
        return None, new
    base = _reference_base(git, target, site, new)
    return (base if base != new else None), new


def _reference_base(git: GitTree, target: BuildTarget, site: Site, new: str) -> str:
    if not target.reference_branch:
        raise ConfigError(
            f"{site.path}: {target.name} has no reference branch", "give --base, or add `reference`"
        )
    return git.merge_base(head_of(git, target, target.reference_branch), new)


def _resolve_sha(git: GitTree, target: BuildTarget, revision: str) -> str:
    """Sha of a revision. HEAD of a URL would be that of our own copy, which means nothing."""
    if MOVING.match(revision) and "://" in target.url and not target.url.startswith("file:"):
        raise ConfigError(
            f"{printable(revision, 80)!r} says nothing about {target.url}",
            "give a branch, a tag or a commit id",
        )
    return git.resolve(revision)


def ends_of_tree(  # noqa: PLR0913  (what the command line gives)
    state: Path,
    site: Site,
    tree: str,
    older: Sequence[str],
    newer: str,
    suite: str | None,
    metric: str | None,
) -> SearchEnds:
    """Ends of a search (see `_searchable_ends`), and a check of suite and metric before anything is
    spent.
    """
    target, git = _target_and_tree(state, site, tree)
    _check_metric(site, target, suite, metric)
    older_ends = [_resolve_sha(git, target, each) for each in older]
    return _searchable_ends(git, older_ends, _resolve_sha(git, target, newer))


@dataclass(frozen=True, slots=True)
class SearchEnds:
    """Both ends of a search, by full shas."""

    older: str
    newer: str
    #: The older end that was asked for, where it is no ancestor of the newer one and their merge
    #: base takes its place; else "".
    given: str
    #: Further older ends: what they are made of is no candidate.
    goods: tuple[str, ...] = ()


def _searchable_ends(
    tree: GitTree, older: Sequence[str], last: str, narrowed: Narrowing = WHOLE
) -> SearchEnds:
    """Of several older ends the first one that the newer one descends from, and none of the others,
    is measured; where there is none, the merge base of the first.
    """
    bases = {sha: tree.merge_base(sha, last) for sha in older}
    above = [sha for sha, base in bases.items() if base == sha]
    newest = [
        sha
        for sha in above
        if not any(other != sha and tree.merge_base(sha, other) == sha for other in above)
    ]
    first = (newest or list(bases))[0]
    goods = tuple(sha for sha in bases if sha != first)
    base, given = bases[first], ""
    if base not in (first, last):
        first, given = base, first
        goods = (given, *goods) if goods else ()
    for sha in goods:
        if bases[sha] == last:
            raise ConfigError(
                f"good {sha[:12]} has bad {last[:12]} in its history",
                "leave one of them out: what a good revision is made of is good",
            )
    check_size(tree.graph(first, last, replace(narrowed, goods=goods)))
    return SearchEnds(first, last, given, goods)


def ends_of_repository(
    state: Path, repo: Path, older: Sequence[str], newer: str, narrowed: Narrowing
) -> tuple[str, SearchEnds]:
    """Repository and ends of `rtbisect run`; ConfigError for paths that lead out of it."""
    for path in narrowed.paths:
        if not path or Path(path).is_absolute() or ".." in Path(path).parts:
            raise ConfigError(
                f"--path {printable(path, 200)!r} is no path from the top of the repository",
                "give one as `git ls-files --full-name` prints it",
            )
    folder = repo.resolve()
    if not folder.is_dir():
        raise ConfigError(f"{repo} is not there", "give the folder of a git repository")
    folder = _worktree_top(folder)
    if not is_text(str(folder)):
        raise ConfigError(f"the name of {printable(str(folder))} is no UTF-8", "rename the folder")
    make_folder(state)
    tree = command_tree(state, str(folder))
    older_ends = [tree.resolve(each) for each in older]
    last = tree.resolve(newer)
    return str(folder), _searchable_ends(tree, older_ends, last, narrowed)


def check_ends(
    state: Path, repo: Path, ends: SearchEnds, carry: tuple[str, bytes], *, submodules: bool
) -> None:
    """ConfigError where an end cannot be put together: the clone lacks a submodule of it, or a
    change cannot be carried onto it.
    """
    tree = command_tree(state, str(repo), carry=carry, submodules=submodules)
    for sha in (ends.older, ends.newer):
        if (absent := tree.lacking(sha)) is not None:
            raise ConfigError(f"{sha[:12]}: {speak(absent)}", _what_helps(absent, sha))


def unfetched(state: Path, repo: Path, ends: SearchEnds) -> tuple[str, tuple[str, ...]]:
    """The first end with files that stay pointers of Git LFS, and these; "" and () for none."""
    tree = command_tree(state, str(repo), lfs=True)
    named = ((sha, tree.unfetched(sha)) for sha in (ends.older, ends.newer))
    return next(((sha, files) for sha, files in named if files), ("", ()))


def _what_helps(absent: Finding, sha: str) -> str:
    if absent.kind == Commands.NOT_CARRIED:
        return "lay files over it with --overlay instead of --carry, or take another end"
    todo = f"run `git submodule update --init --recursive` with {sha[:12]} checked out"
    if absent.kind == Commands.NO_SUBMODULE_COMMIT:
        path = shlex.quote(str(absent.data["path"]))
        todo = f"run `git -C {path} fetch` with a branch that has it"
    return f"{todo}, or leave them out with --no-submodules"


def _worktree_top(folder: Path) -> Path:
    """The top of the work tree that we stand in; a bare repository is its own."""
    # Here, unlike elsewhere, the repository may lie above.
    git = Git(cwd=folder, env={"GIT_CEILING_DIRECTORIES": ""})
    top = git.try_("rev-parse", "--show-toplevel")
    if top.ok and top.stdout.strip():
        return Path(top.stdout.rstrip("\n"))
    if not git.try_("rev-parse", "--git-dir").ok:
        raise ConfigError(f"{folder} is in no git repository", "give one with --repo")
    return folder


def skipped_spans(
    state: Path, repo: Path, ends: SearchEnds, revisions: Sequence[str]
) -> tuple[str, ...]:
    """Revisions and ranges A..B by full shas; ConfigError where an end of the search is in them."""
    tree = command_tree(state, str(repo))
    spans = []
    for revision in revisions:
        first, dots, last = revision.partition("..")
        if dots and (not first or not last or last.startswith(".")):
            raise ConfigError(
                f"--skip {printable(revision, 80)!r} is not a range", "give a revision, or A..B"
            )
        spans.append(tree.resolve(first) + (f"..{tree.resolve(last)}" if dots else ""))
    if ends.newer in (shas := tree.within(spans)) or ends.older in shas:
        raise ConfigError(
            "--skip holds an end of the search", "an end has to be tested: give another one"
        )
    return tuple(spans)


def uncommitted(repo: Path, overlay: Sequence[str]) -> tuple[str, ...]:
    """Files that git knows and that are changed in the work tree, without those that are laid over;
    () of a bare repository.
    """
    names = [printable(name, 200) for name in changed_names(repo)]
    return tuple(
        name for name in names if not any(Path(name).is_relative_to(path) for path in overlay)
    )


def keep_changes(state: Path, carry: tuple[str, bytes]) -> tuple[str, str]:
    """Keep what is not committed for a campaign: the sha it was made on, and the artefact."""
    base, diff = carry
    return (base, ArtefactStore(state / "artefacts").put_bytes(diff)) if diff else ("", "")


def pack_overlay(state: Path, repo: Path, files: Sequence[Path]) -> tuple[tuple[str, ...], str]:
    """Keep files of the work tree for a campaign: their paths from its top, and the artefact."""
    if not files:
        return (), ""
    packed, paths = pack(repo, files)
    return paths, ArtefactStore(state / "artefacts").put_bytes(packed)


def build_words(line: str | None, repo: Path, overlay: Sequence[str] = ()) -> tuple[str, ...]:
    """The command of `--build` as words, as of `command_words`; () for none. No shell reads it:
    ConfigError for what only one would understand.
    """
    if line is None:
        return ()
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        reason = f"--build {printable(line, 80)!r} has a quote that does not end"
        raise ConfigError(reason, "close it") from error
    if not words:
        raise ConfigError("--build is empty", "give a command, as --build 'make -j2'")
    if odd := next((word for word in words if word in _OF_SHELL), ""):
        raise ConfigError(f"--build has {odd!r}, and no shell reads it", "give sh -c '...'")
    return command_words(words, repo, overlay=overlay)


def command_words(
    words: tuple[str, ...], repo: Path, *, built: bool = False, overlay: Sequence[str] = ()
) -> tuple[str, ...]:
    """The command as it is started in the worktree of a revision. A script that lies here and is
    not in `repo` is named by its whole path, unless every revision has it: by its `overlay`, or
    because it is `built`: what git ignores, or what is not here yet. ConfigError when there is no
    program.
    """
    program = words[0]
    script = Path(program)
    if "/" not in program:
        if shutil.which(program) is None:
            raise ConfigError(f"{printable(program, 80)} is not there", "give a program or a path")
        return words
    # The folder that we stand in may be known by another name.
    here = Path(os.path.normpath(Path.cwd() / script))
    here = here.parent.resolve() / here.name
    there = script.is_file()
    # With --repo from elsewhere, what is not there is named from its top.
    laid = here if there or script.is_absolute() else Path(os.path.normpath(repo / script))
    # It is started at the top of a worktree: there a path of the repository stays true.
    if known := next((each for each in (here, laid) if _tracked(each, repo)), None):
        name = str(known.relative_to(repo))
        return words if os.path.normpath(program) == name else (f"./{name}", *words[1:])
    over = [path for path in overlay if laid.is_relative_to(repo / path)]
    # What git ignores in a folder is not laid over with it.
    ignored = bool(over) and laid not in [repo / path for path in over] and _ignored(laid, repo)
    if over and not ignored:
        return (f"./{laid.relative_to(repo)}", *words[1:])
    made = here if here.is_relative_to(repo) else laid
    below = not script.is_absolute() and made.is_relative_to(repo)
    if built and below and (not (there or made.exists()) or _ignored(made, repo)):
        return (f"./{made.relative_to(repo)}", *words[1:])
    if ignored:
        raise ConfigError(
            f"{printable(program, 200)} is ignored by git, and --overlay"
            f" {printable(over[0], 200)} leaves it out",
            f"add --overlay {printable(program, 200)}",
        )
    if not there:
        raise _no_script(program, repo)
    return (str(script.absolute()), *words[1:])


def _no_script(program: str, repo: Path) -> ConfigError:
    told = printable(program, 200)
    if Git(cwd=repo).try_("rev-parse", "--is-bare-repository").stdout.strip() != "true":
        return ConfigError(f"{told} is not there", "give a program or a path")
    return ConfigError(
        f"{told} is not there: {repo} is a bare repository, without files of a working tree",
        f"to start that of each revision give sh -c {shlex.quote(told)}, or run in a clone of it",
    )


def _tracked(place: Path, repo: Path) -> bool:
    """Whether git knows a file, by its path from the top."""
    if not place.is_relative_to(repo):
        return False
    path = f":(top,literal){place.relative_to(repo)}"
    return Git(cwd=repo).try_("ls-files", "--error-unmatch", "--", path).ok


def _ignored(place: Path, repo: Path) -> bool:
    words = (*as_its_owner_ignores(repo), "check-ignore", "--quiet", "--", str(place))
    return Git(cwd=repo).try_(*words).ok


def one_revision(  # noqa: PLR0913  (what the command line gives)
    state: Path, site: Site, tree: str, revision: str, suite: str | None, metric: str | None
) -> str:
    """Full sha of a revision, and a check of suite and metric. HEAD and its like are those of
    the checkout that we stand in: `git bisect run` may run in any work tree of the repository.
    """
    target, git = _target_and_tree(state, site, tree)
    _check_metric(site, target, suite, metric)
    if MOVING.match(revision):
        head = Git(cwd=Path.cwd()).try_(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )
        if head.ok and FULL_SHA.fullmatch(head.stdout.strip()):
            return git.resolve(head.stdout.strip())
    return _resolve_sha(git, target, revision)


def _check_metric(site: Site, target: BuildTarget, suite: str | None, metric: str | None) -> None:
    if suite is None:
        if metric is not None:
            raise ConfigError("--metric needs --suite", "give both, or neither")
        return
    choose_threshold(_thresholds(site, target), suite, metric)


def _thresholds(site: Site, target: BuildTarget) -> tuple[Threshold, ...]:
    return load_thresholds(data("thresholds"), tuple(site.job(target).params.suites))


def check_limit(site: Site, tree: str, suite: str, metric: str | None) -> None:
    """ConfigError when the thresholds have no limit to judge one revision by."""
    _own_limit(_thresholds(site, site.target(tree)), suite, metric)


def limit_of(thresholds: tuple[Threshold, ...], request: CampaignRequest) -> float:
    """The limit of `try`: given with the request, else that of the thresholds."""
    given = Extra.of(request).limit
    if given is not None:
        return given
    return _own_limit(thresholds, request.suite or DEFAULT_SUITE, request.metric)


def _own_limit(thresholds: tuple[Threshold, ...], suite: str, metric: str | None) -> float:
    threshold = choose_threshold(thresholds, suite, metric)
    if threshold.limit is None:
        raise ConfigError(f"{threshold.key} has no limit", "give one with --limit")
    return threshold.limit
