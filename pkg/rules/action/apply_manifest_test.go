package action_test

import "testing"

func TestApplyMistakes(t *testing.T) {
	mistakes{
		"Empty": {
			reason: "What is required is missing.",
			action: `apply: {}`,
			want: `
a.yaml:1:8: apply: the field "manifest" is missing; add manifest: ...
a.yaml:1:8: apply: the field "resource" is missing; add resource: ...
`,
		},
		"Unknown": {
			reason: "A field is misspelt.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x}}, exist: Keep}`,
			want:   `a.yaml:1:64: apply.exist: unknown field "exist"; did you mean "existing"?`,
		},
		"Undeclared": {
			reason: "A resource is declared.",
			action: `apply: {resource: configmap, manifest: {metadata: {name: x}}}`,
			want:   `a.yaml:1:19: apply.resource: no resource "configmap" is declared; did you mean "configmaps"?`,
		},
		"NoManifest": {
			reason: "A manifest has a value.",
			action: `apply: {resource: configmaps, manifest: }`,
			want:   `a.yaml:1:31: apply.manifest: the field "manifest" has no value; give it one`,
		},
		"List": {
			reason: "It is a map.",
			action: `apply: {resource: configmaps, manifest: [a]}`,
			want:   `a.yaml:1:41: apply.manifest: want a map, have a list; write lines of key: value, or {key: value}`,
		},
		"Text": {
			reason: "A text gives none.",
			action: `apply: {resource: configmaps, manifest: text}`,
			want:   `a.yaml:1:41: apply.manifest: want a map, have a string; write lines of key: value, or {key: value}`,
		},
		"Existing": {
			reason: "A policy is one of two.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x}}, existing: keep}`,
			want:   `a.yaml:1:74: apply.existing: "keep" is not known here; did you mean Keep?`,
		},
		"KeepAndAdopt": {
			reason: "What is left alone is not adopted.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x}}, existing: Keep, adopt: true}`,
			want:   `a.yaml:1:87: apply.adopt: existing: Keep leaves an object alone, and adopt: true takes it over; leave out adopt or existing`,
		},
		"Owned": {
			reason: "A boolean is one.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x}}, owned: "true"}`,
			want:   `a.yaml:1:71: apply.owned: want a boolean, have a string; write it without quotes: true`,
		},
		"NoMetadata": {
			reason: "An object has a name.",
			action: `apply: {resource: configmaps, manifest: {data: {a: b}}}`,
			want:   `a.yaml:1:41: apply.manifest: the object has no name; write metadata: {name: ...}`,
		},
		"NoName": {
			reason: "In its metadata.",
			action: `apply: {resource: configmaps, manifest: {metadata: {namespace: tidb}}}`,
			want:   `a.yaml:1:52: apply.manifest.metadata: the object has no name; write metadata: {name: ...}`,
		},
		"NullName": {
			reason: "Null is none.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: null}}}`,
			want:   `a.yaml:1:59: apply.manifest.metadata.name: the object has no name; write metadata: {name: ...}`,
		},
		"EmptyName": {
			reason: "Nor is nothing.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: ""}}}`,
			want:   `a.yaml:1:59: apply.manifest.metadata.name: metadata.name is empty; give it a value, or omit() it`,
		},
		"Number": {
			reason: "A name is a string.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: 3}}}`,
			want:   `a.yaml:1:59: apply.manifest.metadata.name: metadata.name must be a string, have an integer; put it in quotes, or write string(...)`,
		},
		"Slash": {
			reason: "A name is part of a path.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: a/b}}}`,
			want:   `a.yaml:1:59: apply.manifest.metadata.name: "a/b" cannot be the name of an object: it may not contain '/'`,
		},
		"Generated": {
			reason: "An object of a generated name cannot be applied again.",
			action: `apply: {resource: configmaps, manifest: {metadata: {generateName: x-}}}`,
			want:   `a.yaml:1:67: apply.manifest.metadata.generateName: apply makes an object of a certain name; write name, or use create`,
		},
		"GeneratedBy": {
			reason: "Whatever the value.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x, generateName: "${three}"}}}`,
			want:   `a.yaml:1:76: apply.manifest.metadata.generateName: apply makes an object of a certain name; write name, or use create`,
		},
		"Metadata": {
			reason: "metadata is a map.",
			action: `apply: {resource: configmaps, manifest: {metadata: x}}`,
			want:   `a.yaml:1:52: apply.manifest.metadata: metadata must be a map, have a string; write lines of key: value, or {key: value}`,
		},
		"Labels": {
			reason: "So are labels.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x, labels: [a]}}}`,
			want:   `a.yaml:1:70: apply.manifest.metadata.labels: metadata.labels must be a map, have a list; write lines of key: value, or {key: value}`,
		},
		"Annotations": {
			reason: "And annotations.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x, annotations: a}}}`,
			want:   `a.yaml:1:75: apply.manifest.metadata.annotations: metadata.annotations must be a map, have a string; write lines of key: value, or {key: value}`,
		},
		"Mark": {
			reason: "The engine writes its own marks.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x, labels: {dyncontroller.dev/owner-uid: "${object.metadata.uid}"}}}}`,
			want:   `a.yaml:1:100: apply.manifest.metadata.labels["dyncontroller.dev/owner-uid"]: dyncontroller.dev/owner-uid is for dyncontroller to write; leave it out`,
		},
		"Adopted": {
			reason: "Annotations among them.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x, annotations: {dyncontroller.dev/adopted: "true"}}}}`,
			want:   `a.yaml:1:103: apply.manifest.metadata.annotations["dyncontroller.dev/adopted"]: dyncontroller.dev/adopted is for dyncontroller to write; leave it out`,
		},
		"Owners": {
			reason: "There is one way to write owners at a time.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x, ownerReferences: [{uid: a}]}}}`,
			want:   `a.yaml:1:79: apply.manifest.metadata.ownerReferences: the owner is the watched object already; leave them out, or write owned: false and all of them, with controllerRef(object)`,
		},
		"UID": {
			reason: "What the API server gives is not for rules.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x, uid: "${object.metadata.uid}"}}}`,
			want:   `a.yaml:1:67: apply.manifest.metadata.uid: a rule may not write metadata.uid; leave it out, the API server gives it`,
		},
		"APIVersion": {
			reason: "The apiVersion comes from resource.",
			action: `apply: {resource: configmaps, manifest: {apiVersion: v2, metadata: {name: x}}}`,
			want:   `a.yaml:1:54: apply.manifest.apiVersion: the apiVersion of the resource is "v1", not "v2"; leave it out, it comes from resource`,
		},
		"APIType": {
			reason: "And is a string.",
			action: `apply: {resource: configmaps, manifest: {apiVersion: 1, metadata: {name: x}}}`,
			want:   `a.yaml:1:54: apply.manifest.apiVersion: apiVersion must be a string, have an integer; put it in quotes, or write string(...)`,
		},
		"Elsewhere": {
			reason: "A RuleSet stays in its namespace.",
			action: `apply: {resource: here, owned: false, manifest: {metadata: {name: x, namespace: other}}}`,
			want:   `a.yaml:1:81: apply.manifest.metadata.namespace: a RuleSet acts in its own namespace only, which is "tidb", not "other"; leave it out, or make it a ClusterRuleSet`,
		},
		"Namespace": {
			reason: "A namespace is a DNS label.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x, namespace: A_B}}}`,
			want:   `a.yaml:1:73: apply.manifest.metadata.namespace: "A_B" cannot be a namespace: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character`,
		},
		"Several": {
			reason: "All mistakes are told at once.",
			action: `
apply:
  resource: configmaps
  prune: maybe
  manifest:
    apiVersion: apps/v1
    metadata:
      name: ${nope}
      uid: a
      labels: {dyncontroller.dev/set: a}
`,
			want: `
a.yaml:4:10: apply.prune: want a boolean, have a string; write true or false
a.yaml:6:17: apply.manifest.apiVersion: the apiVersion of the resource is "v1", not "apps/v1"; leave it out, it comes from resource
a.yaml:8:15: apply.manifest.metadata.name: unknown name "nope"; did you mean "none"?
a.yaml:9:12: apply.manifest.metadata.uid: a rule may not write metadata.uid; leave it out, the API server gives it
a.yaml:10:39: apply.manifest.metadata.labels["dyncontroller.dev/set"]: dyncontroller.dev/set is for dyncontroller to write; leave it out
`,
		},
		"SeveralInTheManifest": {
			reason: "Those of a manifest too.",
			action: `
apply:
  resource: configmaps
  manifest:
    apiVersion: apps/v1
    metadata:
      "${'a'}": b
      uid: a
      namespace: ""
      labels: {dyncontroller.dev/set: a}
`,
			want: `
a.yaml:5:17: apply.manifest.apiVersion: the apiVersion of the resource is "v1", not "apps/v1"; leave it out, it comes from resource
a.yaml:8:12: apply.manifest.metadata.uid: a rule may not write metadata.uid; leave it out, the API server gives it
a.yaml:9:18: apply.manifest.metadata.namespace: metadata.namespace is empty; give it a value, or omit() it
a.yaml:10:39: apply.manifest.metadata.labels["dyncontroller.dev/set"]: dyncontroller.dev/set is for dyncontroller to write; leave it out
`,
		},
	}.run(t)
}

// TestApplyUnknown holds that what a template decides is not judged before.
func TestApplyUnknown(t *testing.T) {
	f := newFixture(t)
	for _, text := range []string{
		`apply: {resource: configmaps, manifest: "${copy}"}`,
		`apply: {resource: configmaps, manifest: {metadata: "${copy.metadata}"}}`,
		`apply: {resource: configmaps, manifest: {metadata: {"${'name'}": x}}}`,
		`apply: {resource: configmaps, manifest: {"${'metadata'}": {name: x}}}`,
		`apply: {resource: configmaps, manifest: {apiVersion: "${'v2'}", metadata: {name: "${'/'}", namespace: "${'_'}", labels: "${labels}"}}}`,
	} {
		if _, errs := f.compile(t, text); len(errs) > 0 {
			t.Errorf("%s\n%s", text, errs.Render())
		}
	}
}
