# SPDX-License-Identifier: GPL-2.0-or-later
"""Words that several sections of a site file share, for pydantic."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}$")]
Branch = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}$")]
Address = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){0,8}$")
]
#: What stands before an address in a header without quotes; mails are ASCII throughout.
PersonName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _'+-]{0,79}$")]


class Strict(BaseModel):
    """Unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Loose(BaseModel):
    """KernelCI objects: keys that we do not read belong to kernelci-core."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Person(Strict):
    name: PersonName
    address: Address

    def __str__(self) -> str:
        return f"{self.name} <{self.address}>"
