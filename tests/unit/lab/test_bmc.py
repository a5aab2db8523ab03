# SPDX-License-Identifier: GPL-2.0-or-later
"""ipmitool as it is called, and what becomes of its words; recorded from 1.8.19."""

import dataclasses

import pytest

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab.bmc import Bmc, BmcSettings, DeadBmcError, Event, Sensor

STAND_IN = """\
#!/bin/sh
here=${0%/*}
echo "$*" >> "$here/argv"
case "$*" in
*-vv*) [ ! -f "$here/debug" ] || cat "$here/debug" >&2 ;;
esac
case "$*" in
*"mc guid"*) echo "System GUID  : a1234567-89ab-cdef-a123-456789abcdef"; exit 0 ;;
esac
cat "$here/answer"
words="$*"
[ ! -f "$here/slow" ] || ! grep -qxF -e "${words##* -R 2 }" "$here/slow" || sleep 60
[ ! -f "$here/error" ] || { cat "$here/error" >&2; exit 1; }
"""

NO_SESSION = "Error: Unable to establish IPMI v2 / RMCP+ session\n"


class Bench:
    def __init__(self, root):
        self.root = root
        tool = root / "ipmitool"
        tool.write_text(STAND_IN)
        tool.chmod(0o755)
        (root / "answer").write_text("")
        (root / "password").write_text("not-for-logs")
        (root / "password").chmod(0o600)
        self.settings = BmcSettings(
            address="127.0.0.77",
            user="admin",
            password=root / "password",
            port=16623,
            cipher=3,
            ipmitool=str(tool),
        )

    def bmc(self, **changes):
        return Bmc(dataclasses.replace(self.settings, **changes))

    def says(self, answer="", error=None, debug=None):
        (self.root / "answer").write_text(answer)
        for name, text in (("error", error), ("debug", debug)):
            if text is not None:
                (self.root / name).write_text(text)

    def calls(self):
        return (self.root / "argv").read_text().splitlines()


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_the_password_is_on_no_command_line(bench):
    bench.says("Chassis Power is on\n")
    assert bench.bmc().power() is True
    (call,) = bench.calls()
    assert "not-for-logs" not in call
    assert call == (
        f"-I lanplus -H 127.0.0.77 -p 16623 -U admin -f {bench.root}/password"
        " -L ADMINISTRATOR -N 1 -R 2 -C 3 chassis power status"
    )
    bench.says("Chassis Power is off\n")
    assert bench.bmc(cipher=None).power() is False
    assert "-C" not in bench.calls()[1].split()


@pytest.mark.parametrize(
    "guid",
    [
        "674523a1-ab89-efcd-a123-456789abcdef",  # as SMBIOS writes it
        "efcdab89-6745-23a1-efcd-ab89674523a1",  # as IPMI does
    ],
)
def test_the_orders_of_a_guids_bytes_are_one_host(bench, guid):
    bench.bmc(guid=guid).switch("on")
    assert bench.calls()[1].endswith("chassis power on")


def test_a_host_is_switched_only_when_it_is_the_one(bench):
    bench.bmc(guid="A1234567-89AB-CDEF-A123-456789ABCDEF").switch("on")
    assert bench.calls()[1].endswith("chassis power on")
    other = bench.bmc(guid="b" * 32)
    for act in (lambda: other.switch("off"), lambda: other.boot_from("pxe")):
        with pytest.raises(ConfigError, match=r"is of host a1234567.*, not of b"):
            act()
    assert not any("power off" in call or "bootdev" in call for call in bench.calls())


def test_only_known_words_reach_ipmitool(bench):
    for act in (lambda b: b.switch("up; reboot"), lambda b: b.boot_from("floppy")):
        with pytest.raises(ConfigError):
            act(bench.bmc())
    assert not (bench.root / "argv").exists()


def test_a_dead_bmc_and_a_wrong_password_are_told_apart(bench):
    bench.says(error=NO_SESSION)
    with pytest.raises(DeadBmcError, match="does not answer"):
        bench.bmc().power()
    bench.says(error=NO_SESSION, debug="> RAKP 2 HMAC is invalid\n")
    with pytest.raises(ConfigError, match="refuses user admin or the password"):
        bench.bmc().power()
    bench.says(error=f"invalid authentication algorithm\n{NO_SESSION}")
    with pytest.raises(ConfigError, match="cipher suite 17"):
        bench.bmc(cipher=17).power()


@pytest.mark.parametrize(("how", "dead"), [("cycle", False), ("off", False), ("reset", True)])
def test_what_may_have_switched_the_host_is_not_given_again(bench, how, dead):
    status = "-C 3 -vv chassis power status\n" if dead else ""
    (bench.root / "slow").write_text(f"-C 3 chassis power {how}\n{status}")
    with pytest.raises(InfrastructureError, match=f"nobody knows whether `chassis power {how}`"):
        bench.bmc(timeout_s=1.0).switch(how)
    given, asked = bench.calls()
    assert given.endswith(f"chassis power {how}")
    assert asked.endswith("-vv chassis power status")


def test_a_refusal_behind_a_timeout_is_one(bench):
    (bench.root / "slow").write_text("-C 3 chassis power cycle\n")
    bench.says(debug="> RAKP 2 HMAC is invalid\n")
    with pytest.raises(ConfigError, match="refuses user admin"):
        bench.bmc(timeout_s=1.0).switch("cycle")
    assert sum(call.endswith("chassis power cycle") for call in bench.calls()) == 1


def test_other_faults_are_those_of_the_bmc(bench):
    bench.says(error="Set Chassis Boot Parameter 5 failed: Invalid data field in request\n")
    with pytest.raises(InfrastructureError, match="Invalid data field"):
        bench.bmc().boot_from("pxe")
    (bench.root / "error").unlink()
    bench.says("\x1b[31mnonsense\n")
    with pytest.raises(InfrastructureError, match="is no state of power"):
        bench.bmc().power()
    (bench.root / "password").unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        bench.bmc().power()


def test_readings_and_events(bench):
    bench.says("CPU Temp,45,degrees C,ok\nWatchdog,,,ns\nshort\n")
    assert bench.bmc().sensors() == (
        Sensor("CPU Temp", 45.0, "degrees C", "ok"),
        Sensor("Watchdog", None, "", "ns"),
    )
    bench.says("   1 | Pre-Init  |0000000095| Temperature #0x01 | Upper Critical | Asserted\nx\n")
    assert bench.bmc().events() == (
        Event(1, "Pre-Init |0000000095| Temperature #0x01 | Upper Critical | Asserted"),
    )
    assert bench.bmc().guid() == "a123456789abcdefa123456789abcdef"
