"""The chart, rendered by Helm as a cluster would get it, and held against the schemas of Kubernetes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tests.deploy.conftest import ROOT, tool
from tfsvc.service.security import VARIABLES

kubernetes_validate = pytest.importorskip("kubernetes_validate")
yaml = pytest.importorskip("yaml")

CHART = str(ROOT / "deploy" / "helm" / "tfsvc")
OPEN = ["security.insecure=true"]
SETTINGS = {
    "open": OPEN,
    "secured": ["security.tokenSecret=token", "security.tlsSecret=certificates"],
    "bucket": [*OPEN, "dispatcher.journal.url=s3://bucket/journal", "serviceAccountName=tfsvc"],
    "hpa": [*OPEN, "autoscaling.kind=hpa"],
    "keda": [*OPEN, "autoscaling.kind=keda", "autoscaling.prometheus=http://prometheus:9090"],
    "watched": [
        *OPEN,
        "serviceMonitor=true",
        "networkPolicy.monitoring[0].namespaceSelector.matchLabels.team=watch",
        "podAnnotations.team=data",
        "image.pullSecrets[0].name=registry",
        "workers.nodeSelector.pool=cpu",
        "workers.tolerations[0].operator=Exists",
        "dispatcher.env[0].name=HOME,dispatcher.env[0].value=/tmp",
    ],
}
OF_OTHERS = {"ScaledObject": "keda.sh/v1alpha1", "ServiceMonitor": "monitoring.coreos.com/v1"}
"""Kinds whose schemas Kubernetes itself does not have."""


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = tool("helm", "make .venv/helm/.ready")
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)


def rendered(settings: list[str]) -> list[dict[str, Any]]:
    given = [part for setting in settings for part in ("--set", setting)]
    done = helm("template", "train", CHART, "--namespace", "ml", *given)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def found(settings: list[str], kind: str, part: str = "") -> dict[str, Any]:
    (only,) = (d for d in rendered(settings) if d["kind"] == kind and part in d["metadata"]["name"])
    return only


def container(settings: list[str], part: str) -> dict[str, Any]:
    (only,) = found(settings, "StatefulSet", part)["spec"]["template"]["spec"]["containers"]
    return dict(only)


@pytest.mark.parametrize("name", SETTINGS)
def test_helm_has_nothing_to_say_against_it(name):
    given = [part for setting in SETTINGS[name] for part in ("--set", setting)]
    done = helm("lint", "--strict", CHART, *given)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("version", ["1.27", "1.32", "1.37"])
def test_kubernetes_takes_what_is_rendered(name, version):
    documents = rendered(SETTINGS[name])
    assert {"Service", "StatefulSet", "PodDisruptionBudget", "NetworkPolicy"} <= {d["kind"] for d in documents}
    for document in documents:
        if document["kind"] in OF_OTHERS:
            assert document["apiVersion"] == OF_OTHERS[document["kind"]]
        else:
            kubernetes_validate.validate(document, version, strict=True)


@pytest.mark.parametrize("part", ["dispatcher", "workers"])
def test_no_pod_may_do_what_it_need_not(part):
    pod = found(OPEN, "StatefulSet", part)["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container(OPEN, part)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_whoever_opens_it_to_all_has_to_say_so():
    done = helm("template", "train", CHART)
    assert done.returncode != 0
    assert "security.tlsSecret" in done.stderr
    assert helm("template", "train", CHART, "--set", "security.tokenSecret=token").returncode != 0


def test_a_value_that_there_is_not_is_refused():
    done = helm("template", "train", CHART, "--set", "security.insecure=true,workers.replica=3")
    assert done.returncode != 0
    assert "'replica' not allowed" in done.stderr


def test_keda_has_to_know_prometheus():
    done = helm("template", "train", CHART, "--set", "security.insecure=true,autoscaling.kind=keda")
    assert done.returncode != 0
    assert "autoscaling.prometheus" in done.stderr


@pytest.mark.parametrize("part", ["dispatcher", "workers"])
def test_credentials_come_as_files(part):
    made = container(SETTINGS["secured"], part)
    environment = {each["name"]: each.get("value") for each in made["env"]}
    mounted = {each["mountPath"] for each in made["volumeMounts"] if each.get("readOnly")}
    assert mounted == {"/etc/tfsvc/token", "/etc/tfsvc/tls"}
    files = [environment[f"TFSVC_{name}"] for name in ("TOKEN_FILE", "TLS_CA", "TLS_CERT", "TLS_KEY")]
    assert all(file.rpartition("/")[0] in mounted for file in files)


@pytest.mark.parametrize(("part", "command"), [("dispatcher", "dispatcher"), ("workers", "worker")])
def test_the_commands_take_what_pods_are_started_with(part, command):
    for settings in (OPEN, SETTINGS["secured"]):
        first, *arguments = container(settings, part)["args"]
        assert first == command
        options = [argument.partition("=")[0] for argument in arguments if argument.startswith("--")]
        done = subprocess.run([sys.executable, "-m", "tfsvc", command, "--help"], capture_output=True, text=True)
        assert [option for option in options if f"{option} " not in done.stdout.replace("/", " ")] == []
    assert "--insecure" not in options


def test_credentials_have_the_names_that_servers_know():
    names = {each["name"] for each in container(SETTINGS["secured"], "workers")["env"]}
    assert names == {"POD_NAME", *VARIABLES.values()}


def test_a_worker_is_known_by_its_pods_name_and_looks_for_a_name():
    arguments = container(OPEN, "workers")["args"]
    assert arguments[:2] == ["worker", "dns:train-tfsvc-dispatcher.ml.svc:5050"]
    service = found(OPEN, "Service", "workers")
    assert service["spec"]["clusterIP"] == "None"
    assert f"--advertise=$(POD_NAME).{service['metadata']['name']}.ml.svc:%port%" in arguments
    assert found(OPEN, "StatefulSet", "workers")["spec"]["serviceName"] == service["metadata"]["name"]


def test_a_worker_has_less_time_to_drain_than_its_pod_to_end():
    pod = found(OPEN, "StatefulSet", "workers")["spec"]["template"]["spec"]
    (drain,) = (a for a in container(OPEN, "workers")["args"] if a.startswith("--drain="))
    assert pod["terminationGracePeriodSeconds"] - int(drain.partition("=")[2]) == 30


def test_the_journal_is_on_a_volume_or_in_a_bucket():
    stateful = found(OPEN, "StatefulSet", "dispatcher")["spec"]
    (claim,) = stateful["volumeClaimTemplates"]
    (journal,) = (m for m in container(OPEN, "dispatcher")["volumeMounts"] if m["name"] == claim["metadata"]["name"])
    assert f"--work-dir={journal['mountPath']}/journal" in container(OPEN, "dispatcher")["args"]
    assert "volumeClaimTemplates" not in found(SETTINGS["bucket"], "StatefulSet", "dispatcher")["spec"]
    assert "--work-dir=s3://bucket/journal" in container(SETTINGS["bucket"], "dispatcher")["args"]


def test_a_scaled_set_says_itself_nothing_of_how_many():
    metric = "tfsvc_dispatcher_recommended_workers"
    for name, kind in (("hpa", "HorizontalPodAutoscaler"), ("keda", "ScaledObject")):
        assert "replicas" not in found(SETTINGS[name], "StatefulSet", "workers")["spec"]
        scaler = found(SETTINGS[name], kind)
        assert scaler["spec"]["scaleTargetRef"]["name"] == "train-tfsvc-workers"
        assert metric in str(scaler["spec"])
    assert found(OPEN, "StatefulSet", "workers")["spec"]["replicas"] == 3


def test_only_readers_come_in_and_only_to_the_service():
    ingress = found(OPEN, "NetworkPolicy")["spec"]["ingress"]
    assert [rule["ports"] for rule in ingress] == [[{"port": "grpc", "protocol": "TCP"}]]
    assert {"podSelector": {"matchLabels": {"tfsvc-reader": "true"}}} in ingress[0]["from"]
    _, watching = found(SETTINGS["watched"], "NetworkPolicy")["spec"]["ingress"]
    assert watching["ports"] == [{"port": "http", "protocol": "TCP"}]
    assert watching["from"]
