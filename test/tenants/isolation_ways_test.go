package tenants

var declaring = map[string]attempt{
	"declares-namespaces": {
		reason: "That selects in the API server.", rule: idle, outcome: forbidden,
		resources: "things: {version: v1, resource: configmaps, namespaces: [OTHER]}",
		says:      "leave namespaces out, or make it a ClusterRuleSet: a RuleSet acts in its own namespace only",
	},
	"declares-field": {
		reason: "The API server selects by namespace too, of what is in the one.", outcome: stayed, says: "0",
		resources: `things: {version: v1, resource: configmaps, fieldSelector: "metadata.namespace=OTHER"}`,
		rule:      `with: {got: {resource: things, all: true}}, actions: [{event: {reason: Counted, message: "${rule.set}: ${len(got)}"}}]`,
	},
	"declares-subresource": {
		reason: "A resource is one word,", rule: idle, outcome: forbidden,
		resources: "things: {version: v1, resource: pods/exec}", says: "spec.resources.things.resource",
	},
	"declares-path": {
		reason: "and so is a version,", rule: idle, outcome: forbidden,
		resources: "things: {version: v1/namespaces/OTHER, resource: configmaps}", says: "spec.resources.things.version",
	},
	"declares-group": {
		reason: "and a group.", rule: idle, outcome: forbidden,
		resources: `things: {group: "../../api", version: v1, resource: configmaps}`, says: "spec.resources.things.group",
	},
	"watches-cluster": {
		reason: "What is in no namespace is in none of its own.", outcome: misfit,
		resources: "things: {version: v1, resource: namespaces}", rule: "watch: things, " + idle,
		says: "spec.resources.things.resource: namespaces" + clusters,
	},
	"reads-cluster": {
		reason: "To read it is no less,", outcome: misfit,
		resources: "things: {version: v1, resource: nodes}", rule: "with: {got: {resource: things, all: true}}" + steals,
		says: "spec.resources.things.resource: nodes" + clusters,
	},
	"applies-cluster": {
		reason: "or to make it,", outcome: misfit,
		resources: "things: {version: v1, resource: persistentvolumes}",
		rule:      "actions: [{apply: {resource: things, owned: false, manifest: {metadata: {name: mine}}}}]",
		says:      "spec.resources.things.resource: persistentvolumes" + clusters,
	},
	"reads-roles": {
		reason: "even if it is about rights,", rule: idle, outcome: misfit,
		resources: "things: {group: rbac.authorization.k8s.io, version: v1, resource: clusterroles}",
		says:      "spec.resources.things.resource: clusterroles" + clusters,
	},
	"reads-definitions": {
		reason: "or definitions,", rule: idle, outcome: misfit,
		resources: "things: {group: apiextensions.k8s.io, version: v1, resource: customresourcedefinitions}",
		says:      "spec.resources.things.resource: customresourcedefinitions" + clusters,
	},
	"reads-sets": {
		reason: "or of dyncontroller itself.", rule: idle, outcome: misfit,
		resources: "things: {group: dyncontroller.dev, version: v1alpha1, resource: clusterrulesets}",
		says:      "spec.resources.things.resource: clusterrulesets" + clusters,
	},
}

var writing = map[string]attempt{
	"patches":         {reason: "What cannot be read is no target.", rule: got + `actions: [{patch: {target: got, merge: {data: {mine: "yes"}}}}]`, outcome: fails, says: atGot},
	"patches-json":    {reason: "In any form,", rule: got + `actions: [{patch: {target: got, json: [{op: add, path: /data/mine, value: x}]}}]`, outcome: fails, says: atGot},
	"patches-applied": {reason: "by server-side apply too.", rule: got + `actions: [{patch: {target: got, force: true, apply: {data: {mine: x}}}}]`, outcome: fails, says: atGot},
	"patches-forged": {
		reason: "An object that a rule makes up was never read.", outcome: misfit, says: forged,
		rule: `let: {got: "merge(object, {'metadata': {'namespace': 'OTHER', 'name': 'treasure'}})"}, actions: [{patch: {target: got, merge: {data: {mine: x}}}}]`,
	},
	"patches-forged-each": {
		reason: "Nor was one of a list of them.", outcome: misfit, says: forged,
		rule: `actions: [{forEach: {got: "${[merge(object, {'metadata': {'namespace': other, 'name': 'treasure'}})]}"}, patch: {target: got, merge: {data: {mine: x}}}}]`,
	},
	"moves": {
		reason: "Nothing moves to another namespace.", outcome: fails, says: atAction + "patch.merge.metadata.namespace" + moved,
		rule: `actions: [{patch: {merge: {metadata: {namespace: "${other}"}}}}]`,
	},
	"moves-json": {
		reason: "However it is written.", outcome: misfit, says: atAction + "patch.json[0]" + moved,
		rule: `actions: [{patch: {json: [{op: replace, path: /metadata/namespace, value: OTHER}]}}]`,
	},
	"patches-path": {
		reason: "A subresource is one of a few words.", outcome: forbidden, says: `spec.rules[0].actions[0].patch.subresource: Unsupported value`,
		rule: `actions: [{patch: {subresource: "../../OTHER/x", merge: {data: {mine: x}}}}]`,
	},
	"deletes": {reason: "Deleting is no different,", rule: got + `actions: [{delete: {target: got}}]`, outcome: fails, says: atGot},
	"deletes-everywhere": {
		reason: "and every namespace is its own one.", outcome: stayed, says: "0",
		rule: `with: {got: {resource: treasures, matchLabels: {of: OTHER}, namespace: "*"}}, actions: [{delete: {target: got}}, {event: {reason: Deleted, message: "${rule.set}: ${len(got)}"}}]`,
	},
	"tells": {reason: "An Event is written beside what it is about.", rule: got + `actions: [{event: {target: got, reason: Told, message: gotcha}}]`, outcome: fails, says: atGot},
	"deletes-late": {
		reason: "What is done while an object goes is no different.", outcome: fails, says: atGot,
		resources: "mayflies: {version: v1, resource: configmaps, labelSelector: role=mayfly}",
		rule:      `watch: mayflies, ` + got + `onDelete: {actions: [{delete: {target: got}}]}`,
	},
}

// inOther is a manifest for the actions that have one.
const inOther = `{metadata: {name: planted, namespace: OTHER}}`

var making = map[string]attempt{
	"applies": {reason: "Nothing is made there,", rule: `actions: [{apply: {resource: configmaps, owned: false, manifest: ` + inOther + `}}]`, outcome: misfit, says: atAction + "apply" + inPlace},
	"applies-computed": {
		reason: "wherever that is,", outcome: fails, says: atAction + "apply" + inPlace,
		rule: `actions: [{apply: {resource: configmaps, owned: false, manifest: {metadata: {name: planted, namespace: "${other}"}}}}]`,
	},
	"applies-each": {
		reason: "not even after something that is allowed,", outcome: fails, says: atAction + "apply" + inPlace,
		rule: `actions: [{forEach: {at: "${[object.metadata.namespace, other]}"}, apply: {resource: configmaps, owned: false, manifest: {metadata: {name: "each-${index}", namespace: "${at}"}}}}]`,
	},
	"applies-whole": {
		reason: "nor if all of it is data,", outcome: fails, says: atAction + "apply.manifest: " + ownOnly + "leave it out, or make it a ClusterRuleSet",
		rule: `actions: [{apply: {resource: configmaps, owned: false, manifest: "${fromJSON(manifest)}"}}]`,
	},
	"adopts": {
		reason: "nor is taken over.", outcome: fails, says: atAction + "apply" + inPlace,
		rule: `actions: [{apply: {resource: configmaps, owned: false, adopt: true, manifest: {metadata: {name: treasure, namespace: "${other}"}, data: {mine: x}}}}]`,
	},
	"applies-path": {reason: "A name is no path.", rule: `actions: [{apply: {resource: configmaps, owned: false, manifest: {metadata: {name: "../../OTHER/x"}}}}]`, outcome: misfit, says: atAction + "apply.manifest.metadata.name: " + noName},
	"applies-path-computed": {
		reason: "Nor is one that is computed.", outcome: fails, says: atAction + "apply.manifest.metadata.name: " + noName,
		rule: `actions: [{apply: {resource: configmaps, owned: false, manifest: {metadata: {name: "${path}"}}}}]`,
	},
	"reads-path": {
		reason: "Nor one to read.", outcome: fails, says: "spec.rules[0].with.got.name: " + noName + "; write the name alone; the namespace has a field of its own",
		rule: `with: {got: {resource: configmaps, name: "${path}"}}` + steals,
	},
	"applies-kind": {
		reason: "What is made is of the resource that is declared.", outcome: misfit,
		says: atAction + `apply.manifest.apiVersion: the apiVersion of the resource is "v1", not "rbac.authorization.k8s.io/v1"; leave it out, it comes from resource`,
		rule: `actions: [{apply: {resource: configmaps, manifest: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: mine}}}}]`,
	},
	"owns": {
		reason: "An owner elsewhere is no owner to Kubernetes, and none to the other.", outcome: stayed, says: "owned",
		rule: `when: object.metadata.annotations.born == nil, actions: [
    {apply: {resource: configmaps, owned: false, existing: Keep, manifest: {metadata: {name: bastard, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: treasure, uid: "${uid}", controller: true, blockOwnerDeletion: true}]}}}},
    {patch: {merge: {metadata: {annotations: {born: "yes"}}}}}, {event: {reason: Owned, message: "${rule.set}: owned"}}]`,
	},
	"creates": {
		reason: "To create is no different.", outcome: misfit, says: atAction + "create" + inPlace,
		rule: `with: {found: {resource: configmaps, matchLabels: {spawn: "yes"}}}, actions: [{create: {in: found, owned: false, manifest: {metadata: {generateName: spawn-, namespace: OTHER, labels: {spawn: "yes"}}}}}]`,
	},
	"creates-computed": {
		reason: "Nor somewhere that is computed.", outcome: fails, says: atAction + "create" + inPlace,
		rule: `with: {found: {resource: configmaps, matchLabels: {spawn: "yes"}}}, actions: [{create: {in: found, owned: false, manifest: {metadata: {generateName: spawn-, namespace: "${other}", labels: {spawn: "yes"}}}}}]`,
	},
	"creates-path": {
		reason: "Nor by the beginning of a name.", outcome: fails,
		says: atAction + `create.manifest.metadata.generateName: "../../OTHER/x" cannot be the generateName of an object: it may not contain '/'`,
		rule: `with: {found: {resource: configmaps, matchLabels: {spawn: "yes"}}}, actions: [{create: {in: found, owned: false, manifest: {metadata: {generateName: "${path}", labels: {spawn: "yes"}}}}}]`,
	},
}

var being = map[string]attempt{
	"account-elsewhere": {
		reason: "The account of somebody else is none of its own.", account: "stranger-OTHER", rule: idle, outcome: homeless,
		says: "there is no such ServiceAccount: NAMESPACE/stranger-OTHER",
	},
	"account-path":      {reason: "Nor with its namespace,", account: "OTHER/bot", rule: idle, outcome: forbidden, says: "spec.serviceAccountName"},
	"account-colon":     {reason: "as the API server calls it,", account: `"OTHER:bot"`, rule: idle, outcome: forbidden, says: "spec.serviceAccountName"},
	"account-group":     {reason: "nor another user.", account: `"system:admin"`, rule: idle, outcome: forbidden, says: "spec.serviceAccountName"},
	"account-namespace": {reason: "Only a ClusterRuleSet says where its account is.", spec: "serviceAccountNamespace: OTHER", rule: idle, outcome: forbidden, says: "leave it out: the ServiceAccount of a RuleSet is in its own namespace"},
	"account-none":      {reason: "Nobody is not dyncontroller.", account: "null", rule: idle, outcome: forbidden, says: "a set in the cluster names the ServiceAccount"},
}
