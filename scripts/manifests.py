"""What the linters of scripts/manifests do not know: whether the files of packaging/ agree with each other and with the program.

usage: manifests.py GARSON
"""

import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tomllib

import yaml

DOCKERFILE = pathlib.Path("packaging/docker/Dockerfile").read_text()
COMPOSE = yaml.safe_load(pathlib.Path("packaging/compose.yaml").read_text())
KUBERNETES = list(yaml.safe_load_all(pathlib.Path("packaging/kubernetes.yaml").read_text()))
CARGO = tomllib.loads(pathlib.Path("Cargo.toml").read_text())
DEFAULTS = tomllib.loads(pathlib.Path("crates/garson/garson.default.toml").read_text())


def check(condition, what):
    if not condition:
        sys.exit(f"manifests: {what}")


def one_kind(kind):
    found = [document for document in KUBERNETES if document["kind"] == kind]
    check(len(found) == 1, f"kubernetes.yaml has {len(found)} of {kind}")
    return found[0]


DEPLOYMENT = one_kind("Deployment")
POD = DEPLOYMENT["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]
SERVER = COMPOSE["services"]["garson"]


def check_versions():
    rust = re.search(r"^ARG RUST_VERSION=(\S+)$", DOCKERFILE, re.MULTILINE)[1]
    check(rust == CARGO["workspace"]["package"]["rust-version"], f"the image is built with Rust {rust}")
    version = CARGO["workspace"]["package"]["version"]
    for image in (SERVER["image"], CONTAINER["image"]):
        check(image.endswith(f"garson:{version}"), f"the image {image} is not of version {version}")
    check(f"--tag garson:{version} ." in DOCKERFILE, "the Dockerfile names another version")
    print("ok: versions of Rust and Garson")


def context():
    """The files that are sent to the builder, by the rules of .dockerignore: the last line that matches a path or its folder wins."""
    lines = pathlib.Path("packaging/docker/Dockerfile.dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]

    def is_sent(path):
        prefixes = ["/".join(path.split("/")[:length]) for length in range(1, path.count("/") + 2)]
        sent = True
        for pattern in patterns:
            if any(fnmatch.fnmatchcase(prefix, pattern.removeprefix("!")) for prefix in prefixes):
                sent = pattern.startswith("!")
        return sent

    # Also what is not checked in, such as data and secrets.
    found = []
    for folder, folders, files in os.walk("."):
        folders[:] = [name for name in folders if name not in (".git", "target")]
        found += [os.path.relpath(os.path.join(folder, name), ".") for name in files]
    return {path for path in found if is_sent(path)}


def check_context():
    """Cargo wants every member of the workspace with its targets, and the compiler what it includes."""
    sent = context()
    copied = re.findall(r"^COPY (?:--chmod=\S+ )?(packaging\S+)", DOCKERFILE, re.MULTILINE)
    for needed in ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", *copied]:
        check(needed in sent, f"Dockerfile.dockerignore keeps {needed} from the builder")
    for member in CARGO["workspace"]["members"]:
        check(f"{member}/Cargo.toml" in sent, f"Dockerfile.dockerignore keeps {member} from the builder")
        manifest = tomllib.loads(pathlib.Path(member, "Cargo.toml").read_text())
        targets = [target for kind in ("bin", "test", "bench", "example") for target in manifest.get(kind, [])]
        for target in [*targets, *[manifest[kind] for kind in ("lib",) if kind in manifest]]:
            if "path" in target:
                check(f"{member}/{target['path']}" in sent, f"Dockerfile.dockerignore keeps {member}/{target['path']} back")
        if not targets:
            roots = {f"{member}/src/lib.rs", f"{member}/src/main.rs"}
            check(roots & sent, f"Dockerfile.dockerignore keeps the sources of {member} back")
    for path in sorted(path for path in sent if path.startswith("crates/") and path.endswith(".rs")):
        # Tests are not compiled there, and stand at the end of a file.
        text = pathlib.Path(path).read_text().partition("#[cfg(test)]")[0]
        if path.endswith("tests.rs") or "/tests/" in path:
            continue
        for included in re.findall(r'include(?:_str|_bytes)?!\(\s*"([^"]+)"', text):
            wanted = os.path.normpath(os.path.join(os.path.dirname(path), included))
            check(wanted in sent, f"{path} includes {wanted}, which Dockerfile.dockerignore keeps back")
    allowed = {"Cargo.toml", "Cargo.lock", ".cargo/config.toml", *copied}
    folders = tuple(f"{folder}/" for folder in ("crates", "tests", "bench", "model"))
    extra = [path for path in sent if path not in allowed and not path.startswith(folders)]
    check(not extra, f"these are sent to the builder: {extra}")
    print(f"ok: {len(sent)} files are sent to the builder")


def check_settings():
    """The program accepts the variables; an unknown one would keep it from starting."""
    image = dict(re.findall(r"(GARSON_\w+)=(\S+)", DOCKERFILE.partition("ENV ")[2].partition("\nEXPOSE")[0]))
    check(len(image) == 3, f"the variables of the image: {image}")
    compose = {name: str(value) for name, value in SERVER["environment"].items()}
    given = compose["GARSON_PUBLIC_URL"]
    check(given.startswith("${GARSON_PUBLIC_URL:?"), "compose.yaml does not demand GARSON_PUBLIC_URL")
    compose["GARSON_PUBLIC_URL"] = "https://orders.example.com"
    # Of the secret files, only the names are known here.
    check(compose.pop("GARSON_CONFIG") == "/run/secrets/garson.toml", "compose.yaml: GARSON_CONFIG")
    kubernetes = dict(one_kind("ConfigMap")["data"])
    for variable in CONTAINER["env"]:
        kubernetes[variable["name"]] = variable.get("value", "postgres://garson@database/garson")
    for place, variables in (("the image", {}), ("compose.yaml", compose), ("kubernetes.yaml", kubernetes)):
        done = subprocess.run(
            [sys.argv[1], "config"], env=image | variables, cwd="/", capture_output=True, text=True, timeout=30
        )
        check(done.returncode == 0, f"the variables of {place}: {done.stderr}")
        shown = tomllib.loads(done.stdout)
        for name, value in (image | variables).items():
            setting = shown
            for part in name.removeprefix("GARSON_").lower().split("__"):
                setting = setting[part]
            setting = ",".join(setting) if isinstance(setting, list) else setting
            check(setting in (value, "(set)"), f"{place}: {name} is {value}, and the program reads {setting}")
    ports = {name: image[name].rpartition(":")[2] for name in ("GARSON_LISTEN", "GARSON_SERVER__OPERATIONS_LISTEN")}
    check(f"EXPOSE {' '.join(ports.values())}\n" in DOCKERFILE, f"the image does not expose {ports}")
    published = [port.rpartition(":")[2] for port in SERVER["ports"]]
    check(published == list(ports.values()), f"compose.yaml publishes {published}")
    # To this machine only: 9090 has no TLS and needs no key.
    check(all(port.startswith("127.0.0.1:") for port in SERVER["ports"]), "compose.yaml publishes ports to other machines")
    declared = [str(port["containerPort"]) for port in CONTAINER["ports"]]
    check(declared == list(ports.values()), f"kubernetes.yaml declares the ports {declared}")
    print("ok: variables and ports")


def seconds(text):
    return int(re.fullmatch(r"(\d+)s", text)[1])


def check_shutdown():
    """Requests and deliveries are waited for one after the other; the rest takes eight seconds at most (server.rs, serve.rs)."""
    needed = 2 * DEFAULTS["server"]["drain_seconds"] + 8
    check(seconds(SERVER["stop_grace_period"]) >= needed, f"compose.yaml: the shutdown may take {needed} seconds")
    command = CONTAINER["lifecycle"]["preStop"]["exec"]["command"]
    needed += int(command[1])
    given = POD["terminationGracePeriodSeconds"]
    check(command[0] == "sleep" and given >= needed, f"kubernetes.yaml: {needed} seconds are needed to end, {given} are given")
    started = CONTAINER["startupProbe"]
    waited = started["periodSeconds"] * started["failureThreshold"]
    check(waited >= 2 * DEFAULTS["storage"]["start_seconds"], f"kubernetes.yaml: {waited} seconds are too short for a start")
    print("ok: times to start and to end")


def check_secrets():
    """They are in files that exist nowhere here, and no manifest has a value."""
    check(not [one for one in KUBERNETES if one["kind"] == "Secret"], "kubernetes.yaml has a Secret")
    names = {variable["valueFrom"]["secretKeyRef"]["name"] for variable in CONTAINER["env"] if "valueFrom" in variable}
    names |= {volume["secret"]["secretName"] for volume in POD["volumes"] if "secret" in volume}
    check(names == {"garson"}, f"kubernetes.yaml: secrets {names}")
    for name, secret in COMPOSE["secrets"].items():
        check(secret == {"file": f"secrets/{name}"}, f"compose.yaml: the secret {name}")
    ignored = subprocess.run(["git", "check-ignore", "--quiet", "packaging/secrets/master_key"], timeout=30)
    check(ignored.returncode == 0, "packaging/secrets is not in .gitignore")
    for service in COMPOSE["services"].values():
        check(set(service["secrets"]) <= set(COMPOSE["secrets"]), "compose.yaml: a secret that is not declared")
        loose = [name for name in service["environment"] if re.search("KEY|PASSWORD|SECRET|URL$", name)]
        loose = [name for name in loose if not name.endswith("_FILE") and name != "GARSON_PUBLIC_URL"]
        check(not loose, f"compose.yaml: secret variables {loose}")
    print("ok: no secret has its value in a manifest")


def check_references():
    labels = DEPLOYMENT["spec"]["template"]["metadata"]["labels"]
    chosen = [DEPLOYMENT["spec"]["selector"]["matchLabels"], one_kind("Service")["spec"]["selector"]]
    chosen += [one_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"]]
    chosen += [spread["labelSelector"]["matchLabels"] for spread in POD["topologySpreadConstraints"]]
    check(all(one.items() <= labels.items() for one in chosen), "kubernetes.yaml: a selector does not choose the pods")
    ports = {port["name"] for port in CONTAINER["ports"]}
    probes = [CONTAINER[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")]
    check([probe["path"] for probe in probes] == ["/healthz", "/readyz", "/healthz"], "kubernetes.yaml: paths of probes")
    service = one_kind("Service")
    wanted = {probe["port"] for probe in probes} | {port["targetPort"] for port in service["spec"]["ports"]}
    check(wanted <= ports, f"kubernetes.yaml: the ports {wanted - ports}")
    rules = one_kind("Ingress")["spec"]["rules"]
    backends = [path["backend"]["service"] for rule in rules for path in rule["http"]["paths"]]
    for backend in backends:
        check(backend["name"] == service["metadata"]["name"], f"kubernetes.yaml: the backend {backend}")
        check(backend["port"]["name"] in {port["name"] for port in service["spec"]["ports"]}, f"kubernetes.yaml: {backend}")
    check(CONTAINER["envFrom"] == [{"configMapRef": {"name": one_kind("ConfigMap")["metadata"]["name"]}}], "envFrom")
    check(not any("namespace" in one["metadata"] for one in KUBERNETES), "kubernetes.yaml names a namespace")
    mounted = {mount["name"] for mount in CONTAINER["volumeMounts"]}
    check(mounted == {volume["name"] for volume in POD["volumes"]}, f"kubernetes.yaml: volumes {mounted}")
    user = re.search(r"^USER (\d+):(\d+)$", DOCKERFILE, re.MULTILINE)
    context = POD["securityContext"]
    ids = {context["runAsUser"], context["runAsGroup"], context["fsGroup"], int(user[1]), int(user[2])}
    check(len(ids) == 1, f"the image and kubernetes.yaml have the user ids {ids}")
    network = COMPOSE["networks"]["default"]["ipam"]["config"][0]
    trusted = SERVER["environment"]["GARSON_SERVER__TRUSTED_PROXIES"]
    check(trusted == network["gateway"], f"compose.yaml trusts {trusted}, and the proxy comes from {network['gateway']}")
    print("ok: names, ports and ids agree")


os.environ.pop("GARSON_CONFIG", None)
check_versions()
check_context()
check_settings()
check_shutdown()
check_secrets()
check_references()
