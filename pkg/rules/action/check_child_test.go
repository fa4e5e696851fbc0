package action_test

import "testing"

func TestCheckChild(t *testing.T) {
	typedCases{
		"Right":   {"A whole object.", `{apply: {resource: configmaps, manifest: {metadata: {name: "${object.metadata.name}"}, data: {a: "${object.spec.class}"}}}}`, ""},
		"Adopted": {"What is taken over may have it.", `{apply: {resource: gateways, adopt: true, manifest: {metadata: {name: a}, spec: {}}}}`, ""},
		"Kind": {
			"The kind of the resource.", `{apply: {resource: configmaps, manifest: {kind: Secret, metadata: {name: a}}}}`,
			` apply.manifest.kind: the kind of the resource is "ConfigMap", not "Secret"; leave it out, it comes from resource`,
		},
		"RightKind":      {"It may be repeated.", `{apply: {resource: configmaps, manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}}`, ""},
		"StatusOfTenant": {"Unless it is a field as any.", `{apply: {resource: tenants, owned: false, manifest: {metadata: {name: a}, status: {phase: Ready}}}}`, ""},
		"Itself": {
			"A rule patches what it watches.", `{apply: {resource: gateways, manifest: {metadata: {name: "${object.metadata.name}", namespace: "${object.metadata.namespace}"}, spec: {class: mesh}}}}`,
			` apply.manifest.metadata.name: a rule cannot make the object that it watches; use patch`,
		},
		"Another":   {"It may make another one.", `{apply: {resource: gateways, manifest: {metadata: {name: "${object.metadata.name}-a"}, spec: {class: mesh}}}}`, ""},
		"Elsewhere": {"Or one of this name elsewhere.", `{apply: {resource: gateways, manifest: {metadata: {name: "${object.metadata.name}", namespace: a}, spec: {class: mesh}}}}`, ""},
		"Capitals": {
			"No name of the core has any.", `{apply: {resource: configmaps, manifest: {metadata: {name: My_Config}}}}`,
			`wrong-format apply.manifest.metadata.name: "My_Config" cannot be the name of a ConfigMap; use lower case letters, digits, - and ., with a letter or digit at both ends`,
		},
		"DataKey": {
			"A key becomes a file.", `{apply: {resource: configmaps, manifest: {metadata: {name: a}, data: {a_B.c-1: x, "a b": x, "${object.metadata.name}": x}}}}`,
			`wrong-format apply.manifest.data["a b"]: "a b" cannot be a key of a ConfigMap; use letters, digits, -, _ and .`,
		},
		"NotOwned": {"It may be made.", `{apply: {resource: namespaces, owned: false, manifest: {metadata: {name: a}}}}`, ""},
		"Name": {
			"A name that may be absent.", `{apply: {resource: configmaps, manifest: {metadata: {name: "${object.metadata.labels.x}"}}}}`,
			`may-be-absent apply.manifest.metadata.name: the name of the ConfigMap may be absent; ?? gives a default; or let when ask for it first`,
		},
		"NameGuarded":  {"Unless it was asked for.", `{when: '"x" in object.metadata.labels', apply: {resource: configmaps, manifest: {metadata: {name: "${object.metadata.labels.x}"}}}}`, ""},
		"NameText":     {"A text is never absent.", `{apply: {resource: configmaps, manifest: {metadata: {name: "a-${object.metadata.name}"}}}}`, ""},
		"NameSpared":   {"The namespace is that of the object where there is no other.", `{apply: {resource: configmaps, manifest: {metadata: {name: a, namespace: "${object.metadata.labels.x}"}}}}`, ""},
		"AllTemplated": {"Nothing is known of the metadata.", `{apply: {resource: configmaps, manifest: {metadata: "${any.x}"}}}`, ""},
		"Generated": {
			"The beginning of a name.", `{create: {in: pods, manifest: {metadata: {generateName: "${object.metadata.labels.x}", namespace: a}, spec: {containers: [{name: a}]}}}}`,
			`may-be-absent create.manifest.metadata.generateName: the generateName of the Pod may be absent; ?? gives a default; or let when ask for it first`,
		},
		"Created": {
			"All of it is new.", `{create: {in: pods, manifest: {metadata: {generateName: a-}, spec: {}}}}`,
			`missing-field create.manifest.spec: the field "containers" is missing; add containers: ...`,
		},
		"NotSelected": {
			"Labels without which no rule sees it.", `{apply: {resource: marked, manifest: {metadata: {name: a}}}}`,
			` apply.manifest.metadata: the object would not be among what resources.marked selects: the selector wants app=db; give it the labels that the selector wants, or widen that`,
		},
		"OtherLabel": {
			"Or with which none does.", `{apply: {resource: marked, manifest: {metadata: {name: a, labels: {app: db, old: "1"}}}}}`,
			` apply.manifest.metadata.labels: the object would not be among what resources.marked selects: the selector wants !old; give it the labels that the selector wants, or widen that`,
		},
		"Selected":          {"It has the labels.", `{apply: {resource: marked, manifest: {metadata: {name: a, labels: {app: db, new: "1"}}}}}`, ""},
		"PerhapsSelected":   {"It may have them.", `{apply: {resource: marked, manifest: {metadata: {name: a, labels: {app: "${object.spec.class}"}}}}}`, ""},
		"PerhapsLabelled":   {"It may have any.", `{apply: {resource: marked, manifest: {metadata: {name: a, labels: "${any}"}}}}`, ""},
		"PerhapsKey":        {"A key may be that.", `{apply: {resource: marked, manifest: {metadata: {name: a, labels: {"${any}": db}}}}}`, ""},
		"PerhapsAll":        {"Of a template nothing is known.", `{apply: {resource: marked, manifest: "${any}"}}`, ""},
		"AdoptedIsSelected": {"What is taken over has labels of its own.", `{apply: {resource: marked, adopt: true, manifest: {metadata: {name: a}}}}`, ""},
		"Ours":              {"Labels that the engine gives.", `{apply: {resource: ours, manifest: {metadata: {name: a}}}}`, ""},
		"Untyped":           {"Nothing is known of it.", `{apply: {resource: widgets, manifest: {metadata: {name: "${object.metadata.labels.x}"}, status: {a: 1}}}}`, ""},
	}.run(t, gateways)
}

// TestCheckChildOfCluster is about what objects without a namespace make.
func TestCheckChildOfCluster(t *testing.T) {
	typedCases{
		"Namespace": {"As here.", `{apply: {resource: configmaps, manifest: {metadata: {name: a, namespace: "${object.metadata.name}"}}}}`, ""},
		"MayBeAbsent": {
			"And has to be there.", `{apply: {resource: configmaps, manifest: {metadata: {name: a, namespace: "${object.spec.namespace}"}}}}`,
			`may-be-absent apply.manifest.metadata.namespace: the namespace of the ConfigMap may be absent; ?? gives a default; or let when ask for it first`,
		},
		"Cluster":   {"What has none is owned.", `{apply: {resource: namespaces, manifest: {metadata: {name: a}}}}`, ""},
		"Templated": {"It may be in the metadata that a template gives.", `{apply: {resource: configmaps, manifest: {metadata: "${any.x}"}}}`, ""},
	}.run(t, tenants)
}

func TestCheckDeleteAndEvent(t *testing.T) {
	typedCases{
		"Delete":      {"At once.", `{delete: {target: pods, gracePeriodSeconds: 0}}`, ""},
		"Grace":       {"As it says.", `{delete: {gracePeriodSeconds: "${object.spec.replicas}"}}`, ""},
		"GraceNil":    {"Or none.", `{delete: {gracePeriodSeconds: "${object.metadata.deletionGracePeriodSeconds}"}}`, ""},
		"Event":       {"Any scalar is a text here.", `{event: {reason: A, message: "${object.spec.replicas}", action: "${object.spec.class}"}}`, ""},
		"EventList":   {"A list is none.", `{event: {reason: A, message: "${pods}"}}`, "type-mismatch event.message: want a boolean, a number or a string, have a list of maps; write toJSON(...), or join(...) for a list of strings"},
		"EventInText": {"Within a text, either.", `{event: {reason: A, message: "at ${object.spec.host}"}}`, "may-be-absent event.message: object.spec.host may be absent, and the text around ${ } wants a boolean, a number or a string; say when: object.spec.host != nil if nothing is to be done then, or give a default: ${object.spec.host ?? 'none'}"},
		"EventReason": {"In all of its texts.", `{event: {reason: "${object.spec.hosts}", message: a}}`, "type-mismatch event.reason: want a boolean, a number or a string, have a list of strings; write toJSON(...), or join(...) for a list of strings"},
	}.run(t, gateways)
}
