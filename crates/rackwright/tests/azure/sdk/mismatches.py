"""Holds every answer against the models of Azure's SDK: field names, types, words, and the links that clients follow."""

import collections
import datetime
import enum
import json
import re
import types
import typing

from azure.mgmt.networkcloud import models
from azure.mgmt.networkcloud._utils.model_base import Model
from azure.mgmt.networkcloud.models import _models as model_module

# Ours, and beside the model on purpose: Azure's model has no field for them.
BESIDE_THE_MODEL = {
    "BareMetalMachine.rackwright",
    "ActionState.result",
    "VirtualMachine.rackwright",
    "KubernetesCluster.rackwright",
    "KubernetesClusterProperties.drainPolicy",
    "AgentPool.rackwright",
    "AgentPoolProperties.drainPolicy",
    "OperationStatusResultProperties.warnings",
}

# Required when a resource is created, and not answered: a secret, and parts of Azure that a site has no need of.
REQUIRED_OF_CREATORS = {
    "BareMetalMachineProperties.bmcCredentials",
    "BareMetalMachineConfigurationData.bmcCredentials",
    "ClusterProperties.aggregatorOrSingleRackDefinition",
    "ClusterProperties.networkFabricId",
    "VirtualMachineProperties.cloudServicesNetworkAttachment",
    "ImageRepositoryCredentials.password",
    "KubernetesClusterProperties.networkConfiguration",
    "ControlPlaneNodeConfiguration.vmSkuName",
    "InitialAgentPoolConfiguration.mode",
    "InitialAgentPoolConfiguration.vmSkuName",
    "AgentPoolProperties.mode",
    "AgentPoolProperties.vmSkuName",
}

# Not known of a virtual machine that was made past us; of one that a client has made they are answered.
UNKNOWN_OF_ADOPTED = {
    "VirtualMachineProperties.adminUsername",
    "VirtualMachineProperties.vmImage",
    "OsDisk.diskSizeGB",
}

# What is accepted, by the kind of mismatch.
ACCEPTED = {"unknown": BESIDE_THE_MODEL, "missing": REQUIRED_OF_CREATORS, "missing of an adopted one": UNKNOWN_OF_ADOPTED}

# What a collection of the provider has in it.
COLLECTIONS = {
    "baremetalmachines": models.BareMetalMachine,
    "clusters": models.Cluster,
    "racks": models.Rack,
    "virtualmachines": models.VirtualMachine,
    "kubernetesclusters": models.KubernetesCluster,
    "agentpools": models.AgentPool,
    "baremetalmachinekeysets": models.BareMetalMachineKeySet,
    "bmckeysets": models.BmcKeySet,
    "operationstatuses": models.OperationStatusResult,
    "operationresults": models.OperationStatusResult,
}


class Mismatches:
    """What in the answers does not fit the models: each kind of mismatch once, with how often and where first."""

    RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?(Z|[+-]\d\d:\d\d)")

    def __init__(self):
        self.found = collections.OrderedDict()
        self.nulls = collections.Counter()
        self.answers = 0
        # The names of the virtual machines that the run makes itself; all others were there before.
        self.made = set()
        self._is_adopted = False
        self._hints = {}

    def note(self, kind, what, where):
        count, first = self.found.get((kind, what), (0, where))
        self.found[kind, what] = (count + 1, first)

    def hints_of(self, model):
        if model not in self._hints:
            names = {**vars(model_module), "_models": models}
            self._hints[model] = typing.get_type_hints(model, globalns=names)
        return self._hints[model]

    def hold_model(self, value, model, where):
        name = model.__name__
        if not isinstance(value, dict):
            return self.note("type", f"{name}: {type(value).__name__} instead of an object", where)
        if model is models.VirtualMachine:
            self._is_adopted = value.get("name") not in self.made
        hints = self.hints_of(model)
        # The SDK fills in a model's table of fields when the first one is made.
        fields = {field._rest_name: (attribute, field) for attribute, field in model({})._attr_to_rest_field.items()}
        for key, inner in value.items():
            if key not in fields:
                self.note("unknown", f"{name}.{key}", where)
                continue
            attribute, field = fields[key]
            if inner is None:
                self.nulls[f"{name}.{key}"] += 1
            else:
                self.hold(inner, hints[attribute], f"{name}.{key}", where, field._format)
        for key, (attribute, _) in fields.items():
            if type(None) not in typing.get_args(hints[attribute]) and value.get(key) is None:
                is_excused = self._is_adopted and f"{name}.{key}" in UNKNOWN_OF_ADOPTED
                self.note("missing of an adopted one" if is_excused else "missing", f"{name}.{key}", where)

    def hold(self, value, hint, name, where, form=None):
        wrong = lambda wanted: self.note("type", f"{name}: {json.dumps(value)[:60]} instead of {wanted}", where)
        origin, inner = typing.get_origin(hint), [one for one in typing.get_args(hint) if one is not type(None)]
        if origin in (typing.Union, types.UnionType):
            words = next((one for one in inner if isinstance(one, type) and issubclass(one, enum.Enum)), None)
            if words is None:
                return self.hold(value, inner[0], name, where, form)
            if value not in [word.value for word in words]:
                self.note("enum", f"{name}: {json.dumps(value)} is none of {[word.value for word in words]}", where)
        elif origin is list:
            if not isinstance(value, list):
                return wrong("a list")
            for one in value:
                self.hold(one, inner[0], name, where, form)
        elif origin is dict:
            if not isinstance(value, dict):
                return wrong("a map")
            for one in value.values():
                self.hold(one, inner[1], name, where, form)
        elif isinstance(hint, type) and issubclass(hint, Model):
            self.hold_model(value, hint, where)
        elif hint is datetime.datetime:
            if form != "rfc3339" or not isinstance(value, str) or not self.RFC3339.fullmatch(value):
                wrong(f"a time in the format {form}")
        elif hint is bool or hint is str:
            if not isinstance(value, hint):
                wrong(hint.__name__)
        elif hint is int:
            if not isinstance(value, int) or isinstance(value, bool):
                wrong("a whole number")
        elif hint is float:
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                wrong("a number")
        elif hint is not typing.Any:
            self.note("unchecked", f"{name}: {hint}", where)

    def on_answer(self, answer):
        """A hook of the SDK's pipeline: called with everything that comes back, polls included."""
        request, reply = answer.http_request, answer.http_response
        if request.method == "HEAD" or reply.status_code == 204:
            return
        body = reply.read() if hasattr(reply, "read") else reply.body()
        where = f"{request.method} {request.url.split('?')[0]} -> {reply.status_code}"
        self.answers += 1
        if not reply.headers.get("content-type", "").startswith("application/json"):
            return self.note("type", f"content-type {reply.headers.get('content-type')}", where)
        value = json.loads(body)
        model, is_list = self.model_of(request, reply.status_code)
        if model is None:
            self.note("unchecked", "an answer that no model is known for", where)
        elif is_list:
            for one in value["value"]:
                self.hold_model(one, model, where)
            unknown = set(value) - {"value", "nextLink"}
            for key in unknown:
                self.note("unknown", f"list of {model.__name__}.{key}", where)
        else:
            self.hold_model(value, model, where)
        self.hold_links(request, reply, value, where)
        if reply.status_code >= 400:
            error = value.get("error", {})
            for key in ("code", "message"):
                if not error.get(key):
                    self.note("missing", f"ErrorDetail.{key}", where)

    def hold_links(self, request, reply, value, where):
        """Clients follow only addresses of the scheme and host that they know, and sleep for half a minute if nobody says how long."""
        origin = "/".join(request.url.split("/", 3)[:3]) + "/"
        links = {name: reply.headers[name] for name in ("Azure-AsyncOperation", "Location") if name in reply.headers}
        if isinstance(value, dict) and value.get("nextLink"):
            links["nextLink"] = value["nextLink"]
        for name, link in links.items():
            if not link.startswith(origin):
                self.note("link", f"{name} does not begin with the server's address", f"{where}: {link}")
        is_running = reply.status_code == 202 or (isinstance(value, dict) and value.get("status") == "InProgress")
        if is_running and int(reply.headers.get("Retry-After", "0")) < 1:
            self.note("link", "no Retry-After while something runs", where)
        if is_running and request.method != "GET" and "Azure-AsyncOperation" not in links:
            self.note("link", "no Azure-AsyncOperation where something begins", where)

    @staticmethod
    def model_of(request, status):
        path = request.url.split("?")[0].split("//", 1)[1].split("/", 1)[1].lower()
        segments = [segment for segment in path.split("/") if segment]
        if status >= 400:
            return models.ErrorResponse, False
        if segments[-1] == "operations":
            return models.Operation, True
        if request.method in ("POST", "DELETE"):
            return models.OperationStatusResult, False
        if segments[-1] in COLLECTIONS:
            return COLLECTIONS[segments[-1]], True
        return COLLECTIONS.get(segments[-2]), False

    @staticmethod
    def is_known(kind, what):
        return what in ACCEPTED.get(kind, ())

    def tell(self, is_whole):
        """Prints each kind of mismatch, and returns how many of them nobody has accepted; and after a whole run, how many were accepted in
        vain."""
        print(f"\n{self.answers} answers were held against the models")
        for (kind, what), (count, where) in self.found.items():
            print(f"{'known' if self.is_known(kind, what) else 'FAIL '} {kind}: {what} ({count} times, first in {where})")
        for what, count in sorted(self.nulls.items()):
            print(f"note  null: {what} ({count} times)")
        unmet = [(kind, what) for kind, accepted in ACCEPTED.items() for what in sorted(accepted) if (kind, what) not in self.found]
        for kind, what in unmet:
            print(f"{'FAIL ' if is_whole else 'note '} accepted, and not met: {kind}: {what}")
        return sum(not self.is_known(*found) for found in self.found) + (len(unmet) if is_whole else 0)
