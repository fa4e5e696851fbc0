package lookup_test

import "testing"

func TestFinds(t *testing.T) {
	tests := []struct {
		reason   string
		with     string
		manifest string
		owned    bool
		want     bool
	}{
		{"All there are.", `{resource: pods, all: true}`, `{metadata: {name: a}}`, false, true},
		{"Its name.", `{resource: pods, name: a}`, `{metadata: {name: a}}`, false, true},
		{"The same template.", `{resource: pods, name: "${object.metadata.name}-x"}`, `{metadata: {name: "${object.metadata.name}-x"}}`, false, true},
		{"Another name.", `{resource: pods, name: a}`, `{metadata: {name: b}}`, false, false},
		{"A template may give anything.", `{resource: pods, name: a}`, `{metadata: {name: "${object.metadata.name}"}}`, false, false},
		{"One of the names.", `{resource: pods, names: [b, a]}`, `{metadata: {name: a}}`, false, true},
		{"None of the names.", `{resource: pods, names: [b, c]}`, `{metadata: {name: a}}`, false, false},
		{"Names that an expression gives.", `{resource: pods, names: "${object.spec.list}"}`, `{metadata: {name: a}}`, false, false},
		{"Its labels.", `{resource: pods, matchLabels: {app: web}}`, `{metadata: {name: a, labels: {app: web, tier: x}}}`, false, true},
		{"Some of its labels.", `{resource: pods, matchLabels: {app: web, zone: b}}`, `{metadata: {name: a, labels: {app: web}}}`, false, false},
		{"Other labels.", `{resource: pods, matchLabels: {app: web}}`, `{metadata: {name: a, labels: {app: db}}}`, false, false},
		{"No labels.", `{resource: pods, matchLabels: {app: web}}`, `{metadata: {name: a}}`, false, false},
		{"Labels that an expression gives.", `{resource: pods, matchLabels: "${object.spec.labels}"}`, `{metadata: {name: a, labels: {app: web}}}`, false, false},
		{"Its owner.", `{resource: pods, ownedBy: object}`, `{metadata: {name: a}}`, true, true},
		{"It has none.", `{resource: pods, ownedBy: object}`, `{metadata: {name: a}}`, false, false},
		{"Another owner.", `{resource: pods, ownedBy: owner}`, `{metadata: {name: a}}`, true, false},
		{"A selector is not looked into.", `{resource: pods, selector: {matchLabels: {app: web}}}`, `{metadata: {name: a, labels: {app: web}}}`, false, false},
		{"Nor are fields.", `{resource: pods, matchFields: {metadata.name: a}}`, `{metadata: {name: a}}`, false, false},
		{"Metadata that an expression gives.", `{resource: pods, matchLabels: {app: web}}`, `{metadata: "${object.spec.m}"}`, false, false},
		{"Its namespace.", `{resource: pods, name: a, namespace: b}`, `{metadata: {name: a, namespace: b}}`, false, true},
		{"Another namespace.", `{resource: pods, name: a, namespace: b}`, `{metadata: {name: a, namespace: c}}`, false, false},
		{"A namespace that is not known.", `{resource: pods, name: a, namespace: b}`, `{metadata: {name: a}}`, false, false},
		{"The namespace of the object.", `{resource: pods, name: a}`, `{metadata: {name: a, namespace: "${ object.metadata.namespace }"}}`, false, true},
		{"Any namespace.", `{resource: pods, all: true, namespace: "*"}`, `{metadata: {name: a, namespace: c}}`, false, true},
		{"A label that is selected.", `{resource: webPods, all: true}`, `{metadata: {name: a, labels: {app: web}}}`, false, true},
		{"Another one.", `{resource: webPods, all: true}`, `{metadata: {name: a, labels: {app: db}}}`, false, false},
		{"None.", `{resource: webPods, all: true}`, `{metadata: {name: a}}`, false, false},
		{"One that an expression gives.", `{resource: webPods, all: true}`, `{metadata: {name: a, labels: {app: "${object.spec.a}"}}}`, false, false},
		{"A manifest that an expression gives.", `{resource: pods, name: a}`, `"${object.spec.m}"`, false, false},
	}
	for _, tc := range tests {
		declarations := declared("")
		if got := compile(t, tc.with, declarations).Finds(parse(t, tc.manifest), declarations[0], tc.owned); got != tc.want {
			t.Errorf("%s %s, %s: %t, want %t", tc.reason, tc.with, tc.manifest, got, tc.want)
		}
	}
}
