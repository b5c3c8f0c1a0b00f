"""Checks a folder of Kubernetes manifests; called by scripts/check-manifests with the folder.

Kinds of Kubernetes itself are checked by kubernetes-validate, strictly, against the oldest version that has all that is used here and
against the newest. Those of the Gateway API and of the Prometheus operator are checked by TypeScript (unknown keys, types) and by the
models' validators (patterns, ranges). No tool sees what one manifest says of another: names, ports, labels and durations are compared
here. Rules written in CEL are checked by a cluster alone.

At the end copies with one mistake each are checked, and each mistake must be found.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

import kubernetes_validate
import yaml

VERSIONS = ["1.30", "1.37"]
MODELS = {"gateway.networking.k8s.io": "gateway-api", "monitoring.coreos.com": "prometheus-operator"}
TARGET = pathlib.Path("target")

# What is broken in a copy: the file, the words, what stands there instead, and a part of the complaint.
BREAKS = [
    ("gate.yaml", "replicas: 3", "replicas: three", "'three' is not of type"),
    ("gate.yaml", "readinessProbe:", "readynessProbe:", "readynessProbe"),
    ("gate.yaml", "seconds: 10", "seconds: 40", "terminationGracePeriodSeconds"),
    ("gate.yaml", "secretName: ropeline", "secretName: gates", "no Secret gates"),
    ("gate.yaml", "targetPort: visitors", "targetPort: http", "no port http"),
    ("config.yaml", 'admin_listen = "0.0.0.0:9925"', 'admin_listen = "0.0.0.0:9926"', "admin_listen"),
    ("config.yaml", "secrets/token-key", "secrets/key", "brings no"),
    ("secret.yaml", "stringData:", "strings:", "strings"),
    ("gate.yaml", "drop: [ALL]", "drop: []", "keeps a capability"),
    ("valkey.yaml", "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "writable"),
    ("valkey.yaml", "key: store-password", "key: password", "no key password"),
    ("network.yaml", "podSelector: {}", "podSelector: all", "'all' is not of type"),
    ("network.yaml", "port: 6379", "port: 6380", "6380"),
    ("route.yaml", "parentRefs:", "parents:", "parents"),
    ("route.yaml", "request: 0s", "request: soon", "request"),
    ("route.yaml", "port: 80\n", "port: 8080\n", "ropeline:8080"),
    ("monitor.yaml", "interval: 15s", "interval: often", "interval"),
    ("monitor.yaml", "port: admin", "port: metrics", "no port metrics"),
]


def main(folder):
    documents = read(folder)
    found = mistakes(documents)
    for mistake in found:
        print(mistake, file=sys.stderr)
    if found:
        sys.exit(1)
    for document in documents:
        print(f"{document['file']}: {document['kind']} {document['metadata']['name']}: good")
    missed = [change for change in BREAKS if not seen(folder, *change)]
    for file, words, instead, _ in missed:
        print(f"not seen: {file} with {instead!r} in place of {words!r}", file=sys.stderr)
    if missed:
        sys.exit(1)
    print(f"{len(documents)} manifests are good for Kubernetes {' and '.join(VERSIONS)}; {len(BREAKS)} broken copies were refused")


def read(folder):
    documents = []
    for path in sorted(pathlib.Path(folder).glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            documents.append(document | {"file": path.name})
    assert documents, f"{folder} has no manifests"
    return documents


def seen(folder, file, words, instead, complaint):
    with tempfile.TemporaryDirectory(dir=TARGET) as copy:
        copy = pathlib.Path(copy)
        for path in pathlib.Path(folder).glob("*.yaml"):
            text = path.read_text()
            if path.name == file:
                assert words in text, f"{file} has no {words!r}"
                text = text.replace(words, instead, 1)
            (copy / path.name).write_text(text)
        return any(complaint in mistake for mistake in mistakes(read(copy)))


def mistakes(documents):
    found, modelled = [], []
    for document in documents:
        bare = {key: value for key, value in document.items() if key != "file"}
        if document["apiVersion"].split("/")[0] in MODELS:
            modelled.append(bare)
            continue
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(bare, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                found.append(f"{document['file']}: {document['kind']}, Kubernetes {version}: {error.message}")
    # What has no schema's shape cannot be compared either.
    return found or by_models(modelled) or references(documents)


def by_models(documents):
    """TypeScript refuses unknown keys in a literal; the program that it makes validates the values."""
    lines = []
    for number, document in enumerate(documents):
        group, version = document["apiVersion"].split("/")
        kind = document["kind"]
        lines.append(f'import {{ {kind} as Kind{number}, I{kind} as Shape{number} }} from "@kubernetes-models/{MODELS[group]}/{group}/{version}/{kind}";')
        lines.append(f"const document{number}: Shape{number} = {json.dumps(document)};")
        lines.append(f"new Kind{number}(document{number}).validate();")
    program = TARGET / "manifests.mts"
    program.write_text("\n".join(lines))
    options = "--skipLibCheck --strict --module nodenext --target es2022".split()
    for command in [["target/node_modules/.bin/tsc", *options, program], ["node", program.with_suffix(".mjs")]]:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            return [done.stdout + done.stderr]
    return []


def references(documents):
    """What one manifest says of another."""
    found = []
    by_kind = {}
    for document in documents:
        by_kind.setdefault(document["kind"], {})[document["metadata"]["name"]] = document
    configuration = tomllib.loads(by_kind["ConfigMap"]["ropeline"]["data"]["config.toml"])
    secret = by_kind["Secret"]["ropeline"]["stringData"]
    workloads = [*by_kind["Deployment"].values(), *by_kind["StatefulSet"].values()]
    templates = [workload["spec"]["template"] for workload in workloads]

    def pods(labels):
        chosen = [pod for pod in templates if labels.items() <= pod["metadata"]["labels"].items()]
        if not chosen:
            found.append(f"no pod has the labels {labels}")
        return chosen

    def ports(chosen):
        every = [port for pod in chosen for box in pod["spec"]["containers"] for port in box["ports"]]
        return {port["name"] for port in every} | {port["containerPort"] for port in every}

    for name, service in by_kind["Service"].items():
        has = ports(pods(service["spec"]["selector"]))
        found += [f"Service {name}: no port {port['targetPort']}" for port in service["spec"]["ports"] if port["targetPort"] not in has]
    for name, budget in by_kind["PodDisruptionBudget"].items():
        pods(budget["spec"]["selector"]["matchLabels"])
    for name, policy in by_kind["NetworkPolicy"].items():
        if policy["metadata"]["namespace"] != "ropeline" or not policy["spec"]["podSelector"]:
            continue
        # Pairs of pods and a rule for their ports: those that the policy is for, and those of this namespace that it lets them reach.
        rules = [(policy["spec"]["podSelector"], rule) for rule in policy["spec"]["ingress"]]
        rules += [(rule["to"][0]["podSelector"], rule) for rule in policy["spec"].get("egress", []) if list(rule["to"][0]) == ["podSelector"]]
        for selector, rule in rules:
            has = ports(pods(selector["matchLabels"]))
            found += [f"NetworkPolicy {name}: no port {port['port']}" for port in rule["ports"] if port["port"] not in has]
    for pod in templates:
        found += loose(pod["spec"])
        for volume in pod["spec"].get("volumes", []):
            for kind, key, field in [("ConfigMap", "configMap", "name"), ("Secret", "secret", "secretName")]:
                if key in volume and volume[key][field] not in by_kind[kind]:
                    found.append(f"no {kind} {volume[key][field]}")
        for variable in (variable for box in pod["spec"]["containers"] for variable in box.get("env", [])):
            if variable["valueFrom"]["secretKeyRef"]["key"] not in secret:
                found.append(f"no key {variable['valueFrom']['secretKeyRef']['key']} in the Secret")
    for route in by_kind["HTTPRoute"].values():
        services = {f"{name}:{port['port']}" for name, service in by_kind["Service"].items() for port in service["spec"]["ports"]}
        wanted = [f"{to['name']}:{to['port']}" for rule in route["spec"]["rules"] for to in rule["backendRefs"]]
        found += [f"HTTPRoute: no Service {to}" for to in wanted if to not in services]
    for monitor in by_kind["ServiceMonitor"].values():
        labels = monitor["spec"]["selector"]["matchLabels"].items()
        chosen = [service for service in by_kind["Service"].values() if labels <= service["metadata"]["labels"].items()]
        has = {port["name"] for service in chosen for port in service["spec"]["ports"]}
        found += [f"ServiceMonitor: no port {end['port']}" for end in monitor["spec"]["endpoints"] if end["port"] not in has]
        found += [f"ServiceMonitor: no key {end['authorization']['credentials']['key']}" for end in monitor["spec"]["endpoints"]
                  if end["authorization"]["credentials"]["key"] not in secret]
    return found + of_the_gate(by_kind["Deployment"]["ropeline"]["spec"]["template"]["spec"], configuration, secret)


def loose(pod):
    """Where a pod may do more than it must. The namespace enforces most of it (Pod Security, restricted), but only in a cluster."""
    if not pod["securityContext"].get("runAsNonRoot") or pod["securityContext"]["seccompProfile"]["type"] != "RuntimeDefault":
        yield "a pod may run as root, or without seccomp"
    if pod.get("automountServiceAccountToken") is not False:
        yield "a pod has a token of the API server"
    for box in pod["containers"]:
        context = box["securityContext"]
        if context["capabilities"]["drop"] != ["ALL"] or context["allowPrivilegeEscalation"]:
            yield f"{box['name']} keeps a capability, or may get one"
        if not context["readOnlyRootFilesystem"]:
            yield f"{box['name']} has a writable root file system"
        if "memory" not in box["resources"]["limits"]:
            yield f"{box['name']} has no limit of memory"


def of_the_gate(pod, configuration, secret):
    """What the Deployment and the configuration in the ConfigMap say of each other."""
    found = []
    server, gate = configuration["server"], pod["containers"][0]
    listens = {port["name"]: port["containerPort"] for port in gate["ports"]}
    for key, address, port in [("listen", server["listen"][0], "visitors"), ("admin_listen", server["admin_listen"], "admin")]:
        if not address.endswith(f":{listens[port]}"):
            found.append(f"config.toml: {key} is {address}, and the port {port} of the Deployment is {listens[port]}")
    needed = gate["lifecycle"]["preStop"]["sleep"]["seconds"] + int(server["drain_deadline"].removesuffix("s"))
    if pod["terminationGracePeriodSeconds"] < needed + 10:
        found.append(f"terminationGracePeriodSeconds is shorter than preStop and drain_deadline together, {needed}, and ten more")
    mounted = next(mount["mountPath"] for mount in gate["volumeMounts"] if mount["name"] == "secrets")
    files = re.findall(r"'file': '([^']*)'", str(configuration))
    known = {f"{mounted}/{key}" for key in secret}
    return found + [f"config.toml: the Secret brings no {file}" for file in files if file not in known]


main(sys.argv[1])
