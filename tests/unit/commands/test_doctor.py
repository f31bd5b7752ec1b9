"""What usually goes wrong on a network, from literal facts: what is found, and what is not."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest
from click.testing import CliRunner

from tfsvc.protocol.messages import AboutNodeResponse, Description
from tfsvc_transports.commands.doctor import doctor
from tfsvc_transports.doctor import checks
from tfsvc_transports.doctor.checks import Level
from tfsvc_transports.doctor.examination import examine
from tfsvc_transports.doctor.facts import Facts, Peer, Reach
from tfsvc_transports.doctor.limits import limits

HERE = AboutNodeResponse("0.1.0", "3.12.1", "1.80.0", "6.31", "3.1", "trainer", 7, 0, 65536, 20, 8 << 30, 8 << 30)
OPEN = {"10.0.0.5": Reach.OPEN}
DISPATCHER = Peer("dispatcher", "head:5050", reached=OPEN, about=replace(HERE, host="head"))
WORKER = Peer("worker", "w1:6000", reached={"10.0.0.6": Reach.OPEN}, about=replace(HERE, host="w1"))
WELL = Facts(HERE, localhost=("127.0.0.1", "::1"), dispatcher=DISPATCHER, description=Description(), workers=(WORKER,))


def with_worker(**more):
    return replace(WELL, workers=(replace(WORKER, **more),))


def found(check, facts):
    return [(finding.level, finding.what) for finding in check(facts)]


def only(check, facts, level, *words):
    """The one finding, which has these words, and advice."""
    (finding,) = check(facts)
    assert finding.level is level
    assert finding.advice
    for word in words:
        assert word in f"{finding.what} {finding.advice}"


def test_nothing_is_found_where_all_is_well():
    results = examine(WELL)
    assert [result.name for result in results if result.findings] == []
    assert [result.name for result in results if not result.looked] == ["ports"]
    assert len(results) == 11


def test_checks_that_had_nothing_to_look_at_say_so():
    alone = {result.name: result.looked for result in examine(Facts(HERE))}
    assert [name for name, looked in alone.items() if looked] == ["IPv4 and IPv6", "forks", "limits"]


def test_a_node_that_lets_nobody_in_tells_neither_its_release_nor_its_time():
    shut = replace(WELL, dispatcher=replace(DISPATCHER, about=None, code="UNAUTHENTICATED"), workers=())
    looked = {result.name: result.looked for result in examine(shut)}
    assert (looked["credentials"], looked["releases"], looked["clocks"]) == (True, False, False)


def test_a_name_that_is_not_known():
    facts = with_worker(unresolved="Name or service not known", reached={})
    only(checks.names, facts, Level.BAD, "worker w1:6000", "--worker-address NAME:6000")
    assert found(checks.reach, facts) == []


def test_nothing_listens():
    facts = replace(WELL, dispatcher=replace(DISPATCHER, reached={"10.0.0.5": Reach.REFUSED}))
    only(checks.reach, facts, Level.BAD, "nothing listens at head:5050", "--host")


def test_a_firewall():
    only(checks.reach, with_worker(reached={"10.0.0.6": Reach.SILENT}), Level.BAD, "firewall", "TCP port 6000")


def test_no_way():
    only(checks.reach, with_worker(reached={"fd00::6": Reach.NO_WAY}), Level.BAD, "knows no way", "fd00::6")


@pytest.mark.parametrize("address", ["0.0.0.0:6000", "[::]:6000"])
def test_a_worker_that_advertises_what_it_binds(address):
    only(checks.advertised, with_worker(address=address), Level.BAD, "no machine's address", "--worker-address")


@pytest.mark.parametrize("address", ["localhost:6000", "127.0.0.1:6000", "[::1]:6000"])
def test_a_worker_that_advertises_itself_as_localhost_to_others(address):
    only(checks.advertised, with_worker(address=address), Level.BAD, "themselves", "--host 0.0.0.0")
    alone = replace(with_worker(address=address), dispatcher=replace(DISPATCHER, address="localhost:5050"))
    assert found(checks.advertised, alone) == []


@pytest.mark.parametrize("name", ["http_proxy", "HTTPS_PROXY", "grpc_proxy", "ALL_PROXY"])
def test_a_proxy(name):
    facts = replace(WELL, environment={name: "http://proxy:3128", "no_proxy": "other"})
    only(checks.proxies, facts, Level.WARNING, f"{name.lower()}=http://proxy:3128", "no_proxy=other,head,w1")


@pytest.mark.parametrize("passed", ["*", "head,w1", ".head, W1"])
def test_a_proxy_that_leaves_the_cluster_alone(passed):
    facts = replace(WELL, environment={"http_proxy": "http://proxy:3128", "NO_PROXY": passed})
    assert found(checks.proxies, facts) == []


def test_a_domain_that_is_passed_by():
    facts = replace(with_worker(address="w1.cluster.local:6000"), dispatcher=None)
    facts = replace(facts, environment={"http_proxy": "p", "no_proxy": ".cluster.local"})
    assert found(checks.proxies, facts) == []


def test_a_name_of_both_families_of_which_one_does_not_answer():
    both = {"::1": Reach.REFUSED, "127.0.0.1": Reach.OPEN}
    facts = replace(WELL, dispatcher=replace(DISPATCHER, address="localhost:5050", reached=both))
    only(checks.families, facts, Level.WARNING, "localhost stands for ::1, 127.0.0.1", "Use 127.0.0.1")
    one = {"10.0.0.5": Reach.OPEN, "10.0.0.6": Reach.REFUSED}
    assert found(checks.families, replace(WELL, dispatcher=replace(DISPATCHER, reached=one))) == []
    only(checks.families, replace(WELL, localhost=()), Level.BAD, "/etc/hosts")


def test_forks_that_hang():
    only(checks.forks, replace(WELL, environment={"GRPC_ENABLE_FORK_SUPPORT": "False"}), Level.BAD, "hangs", "spawn")
    assert found(checks.forks, replace(WELL, environment={"GRPC_ENABLE_FORK_SUPPORT": "1"})) == []


def test_releases_that_differ():
    only(checks.releases, with_worker(about=replace(HERE, tfsvc="0.2.0")), Level.BAD, "tfsvc 0.2.0", "0.1.0")
    only(checks.releases, with_worker(about=replace(HERE, python="3.11.9")), Level.BAD, "Python 3.11.9", "3.12.1")
    only(checks.releases, with_worker(about=replace(HERE, protobuf="5.29")), Level.WARNING, "protobuf 5.29", "6.31")
    assert found(checks.releases, with_worker(about=replace(HERE, python="3.12.9", grpcio="1.66.0"))) == []
    only(checks.releases, with_worker(about=None, code="UNIMPLEMENTED"), Level.WARNING, "TensorFlow's")


def test_clocks_that_differ():
    only(checks.clocks, with_worker(ahead_ns=-(10**10), trip_ns=10**6), Level.BAD, "10 s behind", "chrony")
    only(checks.clocks, with_worker(ahead_ns=10**10), Level.BAD, "10 s ahead of")
    assert found(checks.clocks, with_worker(ahead_ns=10**10, trip_ns=9 * 10**9)) == []


def test_ports_that_are_taken():
    only(checks.ports, replace(WELL, taken={5050: "Address already in use"}), Level.BAD, "port 5050", "ss -ltnp")


def test_nodes_that_let_nobody_in():
    refused = with_worker(about=None, code="UNAUTHENTICATED", error="no token")
    only(checks.credentials, refused, Level.BAD, "no token", "certificates")
    other = with_worker(about=None, code="UNAVAILABLE", error="Socket closed")
    only(checks.credentials, other, Level.BAD, "does not speak as tfsvc does", "TLS")
    nobody = with_worker(about=None, code="UNAVAILABLE", reached={"10.0.0.6": Reach.REFUSED})
    assert found(checks.credentials, nobody) == []


def test_limits_that_are_too_low():
    only(limits, replace(WELL, here=replace(HERE, files_max=1024)), Level.WARNING, "this process", "1024", "ulimit")
    only(
        limits, with_worker(about=replace(HERE, host="w1", files_max=256, files_open=250)), Level.BAD, "w1:6000", "250"
    )
    only(limits, with_worker(about=replace(HERE, host="w1", shared_bytes=64 << 20)), Level.WARNING, "--shm-size")
    only(limits, with_worker(about=replace(HERE, host="w1", memory_bytes=1 << 20)), Level.WARNING, "1 MiB of memory")
    unknown = replace(HERE, files_max=-1, files_open=-1, shared_bytes=-1, memory_bytes=-1)
    assert found(limits, replace(WELL, here=unknown)) == []


def test_the_command_finds_a_port_that_is_taken_and_nobody_at_another():
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(doctor, ["--port", port])
        assert done.exit_code == 1
        assert f"port {port} of this machine cannot be bound" in done.output
    done = CliRunner().invoke(doctor, ["localhost:1", "--timeout", "1s", "--json"])
    assert done.exit_code == 1
    assert "nothing listens at localhost:1" in done.output
    done = CliRunner().invoke(doctor, ["nowhere"])
    assert (done.exit_code, "Malformed address" in done.output) == (1, True)
