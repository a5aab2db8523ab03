# SPDX-License-Identifier: GPL-2.0-or-later
"""What may stand in a site file and in a thresholds file, for pydantic.

The KernelCI parts are checked here for shape and references only, so that a mistake gets
its line number; their meaning is kernelci-core's.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from rtbisect.model.campaign import GROWN_BOOTS, MOST_BOOTS, Better, Role, Scale
from rtbisect.model.lab import PROFILE

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}$")]
Branch = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}$")]
Address = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){0,8}$")
]
#: What stands before an address in a header without quotes; mails are ASCII throughout.
PersonName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _'+-]{0,79}$")]
#: Relative to the site file.
Path = Annotated[str, Field(min_length=1)]
#: An address, `@host`, or one with `*` in it.
Pattern = Annotated[str, Field(pattern=r"^[A-Za-z0-9._+*@-]{1,128}$")]
Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.:-]{0,253}$")]
User = Annotated[str, Field(pattern=r"^[!-~]{1,128}$")]

#: Name of a device or a tag on a LAVA server; "" for none.
LavaName = Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9_.+-]{0,63})?$")]

#: Name of a group of users on a LAVA server.
Group = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9@_.+-]{0,149}$")]

#: Hour of the day, UTC.
Hour = Annotated[int, Field(ge=0, le=23)]

#: Boots of both ends that can be significant at half of the false-positive rate of 0.01.
FEWEST_BOOTS = 5


class Strict(BaseModel):
    """Unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Loose(BaseModel):
    """KernelCI objects: keys that we do not read belong to kernelci-core."""

    model_config = ConfigDict(extra="allow", frozen=True)


class OneOf(Strict):
    """Exactly one of its fields is given."""

    @model_validator(mode="after")
    def _exactly_one(self) -> OneOf:
        ways = type(self).model_fields
        if sum(getattr(self, way) is not None for way in ways) != 1:
            raise ValueError(f"give one of {', '.join(ways)}")
        return self


class Person(Strict):
    name: PersonName
    address: Address

    def __str__(self) -> str:
        return f"{self.name} <{self.address}>"


class TreeEntry(Loose):
    url: str

    @field_validator("url")
    @classmethod
    def _not_relative(cls, url: str) -> str:
        """A relative path would mean another tree in every folder that one stands in."""
        if not re.match(r"/|[a-z][a-z+]*://|[^/]+:", url):
            raise ValueError("give a URL or an absolute path")
        return url

    @field_validator("url")
    @classmethod
    def _no_secret(cls, url: str) -> str:
        """Reports print it, git gets it as an argument; over ssh a name alone is no secret."""
        if re.match(r"[a-z+]*://[^/]*:[^/]*@|(https?|ftps?)://[^/]*@", url):
            raise ValueError("a URL with a password or token: git's credential helper keeps those")
        return url


class FragmentEntry(Loose):
    path: str
    configs: list[str] = []


class EnvironmentEntry(Loose):
    cc: str
    cc_version: int | str


class ArchitectureEntry(Loose):
    base_defconfig: str = "defconfig"
    fragments: list[Name] = []


class VariantEntry(Loose):
    build_environment: Name
    fragments: list[Name] = []
    architectures: dict[Name, ArchitectureEntry | None]


class ReferenceEntry(Loose):
    tree: Name
    branch: Branch


class BuildConfigEntry(Loose):
    tree: Name
    branch: Branch
    variants: dict[Name, VariantEntry] | None = None
    reference: ReferenceEntry | None = None


class BuildDefaults(Loose):
    variants: dict[Name, VariantEntry] = {}
    reference: ReferenceEntry | None = None


class DeviceParams(Strict):
    """Ours, in KernelCI's `params` of a device type."""

    template: Name
    sockets: int = Field(ge=1, le=8)
    cores: int = Field(ge=2, le=256)
    threads: int = Field(ge=1, le=8)
    memory_mib: int = Field(ge=256)
    emulated: bool
    cpu_model: str = ""
    boot_s: int = Field(60, ge=10, le=3600)


class DeviceTypeEntry(Loose):
    mach: str
    arch: Name
    boot_method: str
    params: DeviceParams


class PlanWorkload(Strict):
    """A program of the site's own for the suite siteload, its path relative to the site file."""

    path: Path
    synthetic: bool = True


class PlanParams(Strict):
    """Ours, in KernelCI's `params` of a test plan."""

    suites: list[Name]
    window_ms: int = Field(ge=200, le=3_600_000)
    # The module of the suite keeps at most 4096 durations.
    rcu_calls: int = Field(ge=10, le=4096)
    profile: Annotated[str, Field(pattern=f"^(?:{PROFILE})$")] = "tuned"
    workload: PlanWorkload | None = None


class PlanEntry(Loose):
    rootfs: Name
    pattern: str
    params: PlanParams


class TestConfigEntry(Loose):
    device_type: Name
    test_plans: list[Name]


class LabEntry(Loose):
    lab_type: Literal["lava"]
    url: str
    priority: str = "medium"


class FileSystemEntry(Loose):
    type: Name


class Campaign(Strict):
    """Limits of a campaign."""

    confidence: float = Field(0.95, gt=0.5, lt=1)
    calibrate_min: int = Field(6, ge=4)
    calibrate_max: int = Field(10, ge=FEWEST_BOOTS)
    looks_max: int | None = Field(
        None,
        ge=FEWEST_BOOTS,
        description="boots of an end of a search while they promise to show a difference; a fifth"
        " of max_boots",
    )
    max_boots: int = Field(
        200,
        ge=8,
        le=MOST_BOOTS,
        description="of a campaign; without it and max_builds a campaign grows to up to"
        f" {GROWN_BOOTS} boots where its forecast promises a commit",
    )
    max_builds: int = Field(120, ge=2, le=MOST_BOOTS)
    verify_boots: int = Field(6, ge=4)
    revert_boots: int = Field(3, ge=2)
    layout_below: float = Field(
        0.2, ge=0, lt=1, description="below this change, code layout is a suspect; 0: never"
    )
    without_rt_boots: int = Field(
        0, ge=0, le=99, description="boots of culprit and parent without PREEMPT_RT; 0: none"
    )

    @model_validator(mode="after")
    def _agree(self) -> Campaign:
        if self.calibrate_min > self.calibrate_max:
            raise ValueError("calibrate_min is larger than calibrate_max")
        if self.max_boots < 2 * self.calibrate_max:
            raise ValueError("max_boots does not cover two ends with calibrate_max boots each")
        if self.looks_max is not None and self.max_boots < 2 * self.looks_max:
            raise ValueError("max_boots does not cover two ends with looks_max boots each")
        return self


class BuildLimits(Strict):
    jobs: int = Field(0, ge=0, description="make -j; 0 is the number of CPUs")
    timeout_s: int = Field(3600, ge=60)
    memory_mib: int = Field(0, ge=0, description="of a build; 0 is three quarters of the machine's")
    disk_mib: int = Field(0, ge=0, description="that a build may leave; 0 is 32 GiB")
    layout: Literal["fixed", "relink"] = Field(
        "fixed", description="relink: each boot gets its functions in an order of its own"
    )


class Serve(Strict):
    """How machines of a lab reach us: they fetch artefacts and call when a job ended."""

    url: Annotated[str, Field(pattern=r"^https?://[A-Za-z0-9.:\[\]-]{1,253}(/[A-Za-z0-9._~-]+)*$")]
    listen: (
        Annotated[str, Field(pattern=r"^([0-9.]{7,15}|\[[0-9A-Fa-f:]{2,45}\]):[0-9]{1,5}$")] | None
    ) = None


class LabAccess(Strict):
    """How a lab behind a LAVA server is used; paths are relative to the site file."""

    serve: Serve
    token: Path | None = None
    ca: Path | None = None
    # Whether the token may go over a network without TLS.
    plain_http: bool = False
    # In which jobs are submitted; twice the same: all day.
    hours: tuple[Hour, Hour] = (0, 0)
    # Whether jobs of others go first.
    yields: bool = False
    # Whether its devices run on this machine: then never a build beside a boot.
    here: bool = False
    # Who reads our jobs there: everybody, we alone, or groups of its users. A job has the addresses
    # of the artefacts in it, and its log what the kernel printed.
    visibility: (
        Literal["public", "personal"] | Annotated[list[Group], Field(min_length=1)] | None
    ) = None

    @property
    def seen_by(self) -> str | tuple[str, ...]:
        """`visibility` as a job says it; we alone where nothing is said of somebody's lab."""
        if self.visibility is None:
            return "public" if self.here else "personal"
        return self.visibility if isinstance(self.visibility, str) else tuple(self.visibility)


class HostEntry(Strict):
    """A host and its BMC."""

    bmc: Host
    user: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,15}$")]
    #: A file, relative to the site file.
    password: Path
    port: int = Field(623, ge=1, le=65535)
    # Not 0: that one takes any password.
    cipher: int | None = Field(None, ge=1, le=17)
    privilege: Literal["USER", "OPERATOR", "ADMINISTRATOR"] = "ADMINISTRATOR"
    guid: Annotated[
        str, Field(pattern=r"^([0-9A-Fa-f]{8}(-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12})?$")
    ] = ""
    #: Its name on the lab's LAVA server, if one drives it.
    device: LavaName = ""
    #: A tag that no other device has there.
    tag: LavaName = ""


# The section `mail:`: who approves, whom we write to, how mail leaves and comes in. Without it
# nothing can be approved, and nothing leaves.


class Smtp(Strict):
    """A server that takes our mail; `password` and `ca` are files, relative to the site file."""

    host: Host
    port: int = Field(587, ge=1, le=65535)
    # none: for a server on this machine alone.
    security: Literal["tls", "starttls", "none"] = "starttls"
    user: User | None = None
    password: Path | None = None
    ca: Path | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Smtp:
        if (self.user is None) != (self.password is None):
            raise ValueError("user and password go together")
        if self.user and self.security == "none":
            raise ValueError("a password needs security tls or starttls")
        return self


class Send(OneOf):
    """How mail leaves; one of these. `files` is a folder, `mbox` a file, `sendmail` a program."""

    smtp: Smtp | None = None
    files: Path | None = None
    mbox: Path | None = None
    sendmail: Path | None = None


class EvidenceEntry(Strict):
    """Where data of reports are published: files are put into `folder`, and read at `url`."""

    folder: Path
    url: Annotated[
        str, Field(pattern=r"^https?://[A-Za-z0-9.:\[\]-]{1,253}(/[A-Za-z0-9._~-]+)*/?$")
    ]


#: Of a wheel or an archive of the program, or a repository of it, as pip takes it; never with a
#: password.
ProgramUrl = Annotated[
    str,
    Field(
        pattern=r"^(git\+)?https?://[A-Za-z0-9.:\[\]-]{1,253}(/[A-Za-z0-9._~%+-]+)+(@[A-Za-z0-9._/+-]{1,100})?$"
    ),
]


class Imap(Strict):
    """A mailbox on a server, always over TLS."""

    host: Host
    port: int = Field(993, ge=1, le=65535)
    user: User
    password: Path
    ca: Path | None = None
    folder: Name = "INBOX"


class InboxEntry(OneOf):
    """Where replies come in; one of these. `maildir` is a folder."""

    maildir: Path | None = None
    imap: Imap | None = None


class Commands(Strict):
    """Whose commands in replies count."""

    people: list[Address] = []
    #: Hosts whose Authentication-Results: header is believed (the authserv-id of RFC 8601): our own
    #: mail server, which takes away forged ones.
    trusted: list[Host] = []
    #: Patches that a command names by address are fetched from below these alone.
    archives: list[Annotated[str, Field(pattern=r"^https?://[^\s@]{3,200}/$")]] = []
    #: A command counts for so long after it was signed.
    days: Annotated[int, Field(ge=1, le=90)] = 14
    #: Commands of each person; above that they wait.
    a_day: Annotated[int, Field(ge=1, le=1000)] = 10
    #: Of all who prove nothing so many mails, and megabytes of them, are kept a day.
    others_a_day: Annotated[int, Field(ge=1, le=10_000)] = 100
    others_mb_a_day: Annotated[int, Field(ge=1, le=1000)] = 20


class MailEntry(Strict):
    """See docs/reports.md. Patterns are addresses, `@host` or `*` with a part."""

    approvers: list[Person] = []
    send: Send | None = None
    archive: Annotated[str, Field(pattern=r"^https?://[^\s]{3,200}/$")] = (
        "https://lore.kernel.org/r/"
    )
    evidence: EvidenceEntry | None = None
    #: Address from which readers of a report install this program.
    program: ProgramUrl | None = None
    #: Where there are any, nobody else gets mail.
    allow: list[Pattern] = []
    deny: list[Pattern] = []
    opted_out: list[Pattern] = []
    #: Recipients of one mail, at most.
    most: int = Field(20, ge=1, le=40)
    #: An address that a report with the word in its title or files goes to, too.
    lists: dict[Name, Address] = {}
    trees: dict[Name, Literal["mainline", "next", "stable", "rt", "other"]] = {}
    inbox: InboxEntry | None = None
    commands: Commands = Commands()


class Kcidb(Strict):
    """Reports for KCIDB: the name that it knows us by, and a folder that takes a file a draft;
    who submits them is somebody else.
    """

    origin: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,64}$")]
    spool: Path


class Ours(Strict):
    """The section `rtbisect:` of a site file. `labs` says how those with a server are used."""

    lab: Name
    labs: dict[Name, LabAccess] = {}
    hosts: dict[Name, HostEntry] = {}
    operator: Person
    bot: Person
    mail: MailEntry = MailEntry()  # type: ignore[call-arg]
    kcidb: Kcidb | None = None
    campaign: Campaign = Campaign()  # type: ignore[call-arg]
    build: BuildLimits = BuildLimits()  # type: ignore[call-arg]


class SiteFile(Strict):
    """A whole site file."""

    trees: dict[Name, TreeEntry]
    build_environments: dict[Name, EnvironmentEntry]
    fragments: dict[Name, FragmentEntry]
    build_configs_defaults: BuildDefaults = BuildDefaults()
    build_configs: dict[Name, BuildConfigEntry]
    file_system_types: dict[Name, Any]
    file_systems: dict[Name, FileSystemEntry]
    test_plan_default_filters: list[Any]
    test_plans: dict[Name, PlanEntry]
    device_default_filters: list[Any]
    device_types: dict[Name, DeviceTypeEntry]
    test_configs: list[TestConfigEntry]
    labs: dict[Name, LabEntry]
    rtbisect: Ours


class ControlEntry(Strict):
    name: Name
    window: Name


class MetricEntry(Strict):
    name: Name
    window: Name
    unit: str
    better: Better
    scale: Scale
    statistic: Literal["median", "fraction", "count"]
    min_effect: float = Field(gt=0)
    limit: float | None = None
    floor: float = Field(0.0, ge=0)
    role: Role
    control: ControlEntry | None = None
    exposure: Name | None = None
    reason: str = Field(min_length=10)
    title: str = Field("", max_length=200)

    @model_validator(mode="after")
    def _events(self) -> MetricEntry:
        if self.statistic != "median" and self.scale is not Scale.LINEAR:
            raise ValueError(f"{self.name}: statistic {self.statistic} needs the scale linear")
        if self.exposure and self.statistic != "count":
            raise ValueError(f"{self.name}: only a count has an exposure")
        return self


class ThresholdsFile(Strict):
    """One `thresholds/<suite>.yaml`; without metrics where it only explains what others measure."""

    suite: Name
    metrics: list[MetricEntry]
