package doubt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// rival is a rule of two that may be in each other's way.
type rival struct {
	watch, more, patch string // more is a part of a map, with a comma at its end
}

func (r rival) text(name string) string {
	watch := r.watch
	if watch == "" {
		watch = "gateways"
	}
	return fmt.Sprintf("  - {name: %s, watch: %s, %sactions: [{%s}]}\n", name, watch, r.more, r.patch)
}

// labelled patches a label of what was found.
func labelled(target, value string) string {
	return "patch: {target: " + target + ", merge: {metadata: {labels: {a: " + value + "}}}}"
}

func merged(fields string) string { return "patch: {merge: {" + fields + "}}" }

// TestConflicts is about two rules: path is what they may set differently, "" where they may not.
func TestConflicts(t *testing.T) {
	tests := map[string]struct {
		reason string
		a, b   rival
		path   string
	}{
		"Values":       {"Two values.", rival{patch: merged("spec: {step: 5}")}, rival{patch: merged("spec: {step: 10}")}, "spec.step"},
		"Same":         {"One value.", rival{patch: merged("spec: {step: 5}")}, rival{patch: merged("spec: {step: 5}")}, ""},
		"Fields":       {"Two fields.", rival{patch: merged("spec: {step: 5}")}, rival{patch: merged("spec: {replicas: 5}")}, ""},
		"Texts":        {"Two expressions.", rival{patch: merged("spec: {host: '${object.metadata.name}'}")}, rival{patch: merged("spec: {host: '${object.metadata.namespace}'}")}, "spec.host"},
		"SameText":     {"One expression.", rival{patch: merged("spec: {host: '${object.metadata.name}'}")}, rival{patch: merged("spec: {host: '${object.metadata.name}'}")}, ""},
		"Meaning":      {"One text that means two things.", rival{more: "let: {l: object.metadata.name}, ", patch: merged("spec: {host: '${l}'}")}, rival{more: "let: {l: object.metadata.namespace}, ", patch: merged("spec: {host: '${l}'}")}, "spec.host"},
		"SameMeaning":  {"One text that means the same.", rival{more: "let: {l: object.metadata.name, m: l}, ", patch: merged("spec: {host: '${m}'}")}, rival{more: "let: {l: object.metadata.name, m: l}, ", patch: merged("spec: {host: '${m}'}")}, ""},
		"Deep":         {"What it means hangs on another.", rival{more: "let: {l: object.metadata.name, m: l}, ", patch: merged("spec: {host: '${m}'}")}, rival{more: "let: {l: object.metadata.namespace, m: l}, ", patch: merged("spec: {host: '${m}'}")}, "spec.host"},
		"Params":       {"A parameter is the same for all.", rival{patch: merged("spec: {host: '${params.class}'}")}, rival{patch: merged("spec: {host: '${params.class}'}")}, ""},
		"RuleName":     {"The name of the rule is not.", rival{patch: merged("spec: {host: '${rule.name}'}")}, rival{patch: merged("spec: {host: '${rule.name}'}")}, "spec.host"},
		"Related":      {"Two found in one way.", rival{more: "with: {f: {resource: configmaps, name: a}}, ", patch: merged("spec: {host: '${f?.metadata.name}'}")}, rival{more: "with: {f: {resource: configmaps, name: a}}, ", patch: merged("spec: {host: '${f?.metadata.name}'}")}, ""},
		"OtherRelated": {"Two found in two ways.", rival{more: "with: {f: {resource: configmaps, name: a}}, ", patch: merged("spec: {host: '${f?.metadata.name}'}")}, rival{more: "with: {f: {resource: configmaps, name: b}}, ", patch: merged("spec: {host: '${f?.metadata.name}'}")}, "spec.host"},
		"Removed":      {"One removes what the other sets.", rival{patch: merged("spec: {limits: '${nil}'}")}, rival{patch: merged("spec: {limits: {rate: 5}}")}, "spec.limits.rate"},
		"RemovedLater": {"The order does not matter.", rival{patch: merged("spec: {limits: {rate: 5}}")}, rival{patch: merged("spec: {limits: '${nil}'}")}, "spec.limits"},
		"LaidOver":     {"A map is laid over the other.", rival{patch: merged("spec: {selector: '${object.metadata.labels}'}")}, rival{patch: merged("spec: {selector: {a: b}}")}, ""},
		"Replaced":     {"By JSON patch it replaces it.", rival{patch: "patch: {json: [{op: add, path: /spec/selector, value: '${object.metadata.labels}'}]}"}, rival{patch: merged("spec: {selector: {a: b}}")}, "spec.selector.a"},
		"Empty":        {"An empty map leaves what is there.", rival{patch: merged("spec: {selector: {}, step: 5}")}, rival{patch: merged("spec: {selector: {a: b}}")}, ""},
		"Lists":        {"Lists are replaced.", rival{patch: merged("spec: {hosts: [a]}")}, rival{patch: merged("spec: {hosts: [b]}")}, "spec.hosts"},
		"AppliedLists": {"Or merged.", rival{patch: "patch: {apply: {spec: {hosts: [a]}}}"}, rival{patch: "patch: {apply: {spec: {hosts: [b]}}}"}, ""},
		"AppliedList":  {"If both are.", rival{patch: "patch: {apply: {spec: {hosts: [a]}}}"}, rival{patch: merged("spec: {hosts: [b]}")}, "spec.hosts"},
		"AppliedNil":   {"nil is not applied.", rival{patch: "patch: {apply: {spec: {host: null, step: 5}}}"}, rival{patch: merged("spec: {host: b}")}, ""},
		"Exclusive":    {"Never both.", rival{more: "when: object.spec.enabled, ", patch: merged("spec: {step: 5}")}, rival{more: "when: '!object.spec.enabled', ", patch: merged("spec: {step: 10}")}, ""},
		"Overlap":      {"Sometimes both.", rival{more: "when: object.spec.replicas > 3, ", patch: merged("spec: {step: 5}")}, rival{more: "when: object.spec.replicas < 9, ", patch: merged("spec: {step: 10}")}, "spec.step"},
		"ByAction":     {"Never both, by an action.", rival{more: "when: object.spec.enabled, ", patch: merged("spec: {step: 5}")}, rival{patch: "when: '!object.spec.enabled', " + merged("spec: {step: 10}")}, ""},
		"Resources":    {"Two kinds.", rival{patch: merged("metadata: {labels: {a: b}}")}, rival{watch: "deployments", patch: merged("metadata: {labels: {a: c}}")}, ""},
		"Kinds":        {"One kind of several.", rival{watch: "'deployments,statefulsets'", patch: merged("metadata: {labels: {a: b}}")}, rival{watch: "'pods,statefulsets'", patch: merged("metadata: {labels: {a: c}}")}, "metadata.labels.a"},
		"Found":        {"Two found in two ways that may find one object.", rival{more: "with: {f: {resource: pods, matchLabels: {app: a}}}, ", patch: labelled("f", "b")}, rival{more: "with: {g: {resource: pods, matchLabels: {tier: a}}}, ", patch: labelled("g", "c")}, "metadata.labels.a"},
		"ApartLabels":  {"What is found has other labels.", rival{more: "with: {f: {resource: pods, matchLabels: {app: a}}}, ", patch: labelled("f", "b")}, rival{more: "with: {g: {resource: pods, matchLabels: {app: b}}}, ", patch: labelled("g", "c")}, ""},
		"ApartNames":   {"Another name.", rival{more: "with: {f: {resource: pods, name: a}}, ", patch: labelled("f", "b")}, rival{more: "with: {g: {resource: pods, name: b}}, ", patch: labelled("g", "c")}, ""},
		"ApartSpaces":  {"Another namespace.", rival{more: "with: {f: {resource: pods, name: a, namespace: a}}, ", patch: labelled("f", "b")}, rival{more: "with: {g: {resource: pods, all: true, namespace: b}}, ", patch: labelled("g", "c")}, ""},
		"ApartObject":  {"Or is not what is watched.", rival{watch: "web", patch: merged("metadata: {labels: {a: b}}")}, rival{more: "with: {g: {resource: pods, matchLabels: {app: db}}}, ", patch: labelled("g", "c")}, ""},
		"SomeObject":   {"It may be what is watched.", rival{watch: "web", patch: merged("metadata: {labels: {a: b}}")}, rival{more: "with: {g: {resource: pods, matchLabels: {tier: db}}}, ", patch: labelled("g", "c")}, "metadata.labels.a"},
		"Audited":      {"One only tells.", rival{more: "mode: Audit, ", patch: merged("spec: {step: 5}")}, rival{patch: merged("spec: {step: 10}")}, ""},
		"Suspended":    {"One is stopped.", rival{patch: merged("spec: {step: 5}")}, rival{more: "suspend: true, ", patch: merged("spec: {step: 10}")}, ""},
		"Targets":      {"Two ways to one object.", rival{more: "with: {p: {resource: pods, ownedBy: object}}, ", patch: "patch: {target: p, merge: {metadata: {labels: {a: b}}}}"}, rival{watch: "pods", patch: merged("metadata: {labels: {a: c}}")}, "metadata.labels.a"},
		"SameTargets":  {"One way, and never both.", rival{more: "when: object.spec.enabled, with: {p: {resource: pods, ownedBy: object}}, ", patch: "patch: {target: p, merge: {metadata: {labels: {a: b}}}}"}, rival{more: "when: '!object.spec.enabled', with: {p: {resource: pods, ownedBy: object}}, ", patch: "patch: {target: p, merge: {metadata: {labels: {a: c}}}}"}, ""},
		"Alias":        {"Under another name, in a loop.", rival{more: "when: object.spec.enabled, with: {p: {resource: pods, ownedBy: object}}, ", patch: "patch: {target: p, merge: {metadata: {labels: {a: b}}}}"}, rival{more: "when: '!object.spec.enabled', with: {p: {resource: pods, ownedBy: object}}, let: {q: p, r: q}, ", patch: "forEach: {x: '${ r }'}, patch: {target: x, merge: {metadata: {labels: {a: c}}}}"}, ""},
		"AliasBoth":    {"That is one way, too.", rival{more: "with: {p: {resource: pods, ownedBy: object}}, ", patch: "patch: {target: p, merge: {metadata: {labels: {a: b}}}}"}, rival{more: "with: {p: {resource: pods, ownedBy: object}}, let: {q: p}, ", patch: "forEach: {x: '${q}'}, patch: {target: x, merge: {metadata: {labels: {a: c}}}}"}, "metadata.labels.a"},
		"Filtered":     {"Filters may keep them apart.", rival{more: "with: {p: {resource: pods, ownedBy: object}}, let: {q: 'filter(p, .spec.nodeName == nil)'}, ", patch: "patch: {target: q, merge: {metadata: {labels: {a: b}}}}"}, rival{more: "with: {p: {resource: pods, ownedBy: object}}, ", patch: "forEach: {x: '${filter(p, .spec.nodeName != nil)}'}, patch: {target: x, merge: {metadata: {labels: {a: c}}}}"}, ""},
		"SameFilter":   {"Or not.", rival{more: "with: {p: {resource: pods, ownedBy: object}}, let: {q: 'filter(p, .spec.nodeName == nil)'}, ", patch: "patch: {target: q, merge: {metadata: {labels: {a: b}}}}"}, rival{more: "with: {p: {resource: pods, ownedBy: object}}, let: {q: 'filter(p, .spec.nodeName == nil)'}, ", patch: "patch: {target: q, merge: {metadata: {labels: {a: c}}}}"}, "metadata.labels.a"},
		"ByRelated":    {"What both found tells them apart.", rival{more: "with: {m: {resource: configmaps, name: m}}, when: m == nil, ", patch: merged("spec: {step: 5}")}, rival{more: "with: {other: {resource: configmaps, name: m}}, when: other != nil, ", patch: merged("spec: {step: 10}")}, ""},
		"ByOthers":     {"What each found does not.", rival{more: "with: {m: {resource: configmaps, name: m}}, when: m == nil, ", patch: merged("spec: {step: 5}")}, rival{more: "with: {m: {resource: configmaps, name: o}}, when: m != nil, ", patch: merged("spec: {step: 10}")}, "spec.step"},
		"Scale":        {"What a subresource does is not known.", rival{patch: "patch: {subresource: scale, merge: {spec: {replicas: 3}}}"}, rival{patch: merged("spec: {replicas: 5}")}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rest := "  rules:\n" + tc.a.text("a") + tc.b.text("b")
			var got []string
			for _, err := range findings(t, head+rest) {
				switch err.Code {
				case document.CodeConflict:
					_, message, _ := strings.Cut(err.Message, "may set ")
					path, _, _ := strings.Cut(message, " of the same")
					got = append(got, path)
				case document.CodeUntyped, document.CodeCycle:
				default:
					t.Errorf("%s\n%s\nbeside: %v", tc.reason, rest, err)
				}
			}
			if strings.Join(got, " ") != tc.path {
				t.Errorf("%s\n%s\nconflicts: %v, want %q", tc.reason, rest, got, tc.path)
			}
		})
	}
}

// TestConflictOfFiles shows where the other rule is, and what becomes of both.
func TestConflictOfFiles(t *testing.T) {
	set := func(name, account string) document.File {
		text := "apiVersion: dyncontroller.dev/v1alpha1\nkind: ClusterRuleSet\nmetadata: {name: " + name + "}\nspec:\n" + account +
			"  resources: {pods: {version: v1, resource: pods}}\n  rules:\n  - name: rule-" + name + "\n    watch: pods\n    actions:\n    - patch: {merge: {metadata: {labels: {x: " + name + "}}}}\n"
		return document.File{Name: name + ".yaml", Data: []byte(text)}
	}
	const account = "  serviceAccountName: sa\n  serviceAccountNamespace: default\n"
	const message = `the rules "rule-a" and "rule-b" may set metadata.labels.x of the same pods to different values: the other is in a.yaml:`
	tests := map[string]struct {
		reason string
		files  []document.File
		want   []string
	}{
		"Same":  {"One of two of one identity loses.", []document.File{set("a", ""), set("b", "")}, []string{message + `10; where both rules match, the first wins; let their conditions exclude each other, or make them one rule`}},
		"Other": {"Two of two identities fight.", []document.File{set("a", account), set("b", "")}, []string{message + `12; they would undo each other; let their conditions exclude each other, or make them one rule`}},
		"One":   {"One alone does not.", []document.File{set("a", "")}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			loaded, errs := rules.Load(tc.files, typed(t))
			if len(errs) > 0 {
				t.Fatal(errs.Render())
			}
			var got []string
			for _, err := range loaded.Warnings() {
				got = append(got, err.Message+"; "+err.Hint)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
