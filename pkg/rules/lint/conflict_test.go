package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
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
		"Sorted":       {"The first and the last in an order.", rival{more: "with: {p: {resource: pods, ownedBy: object}}, let: {q: 'first(sortBy(p, .spec.nodeName))'}, ", patch: "patch: {target: q, merge: {metadata: {labels: {a: b}}}}"}, rival{more: "with: {p: {resource: pods, ownedBy: object}}, let: {q: 'first(sortBy(p, desc(.spec.nodeName)))'}, ", patch: "patch: {target: q, merge: {metadata: {labels: {a: c}}}}"}, ""},
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

// rivals are two rules that set one field to two values, where conditions hold.
func rivals(t interface{ Fatal(args ...any) }, conditions [2]string) *rules.Set {
	text := head + "  rules:\n"
	for i, when := range conditions {
		text += fmt.Sprintf("  - {name: r%d, watch: things, when: '%s', actions: [{patch: {merge: {spec: {f: %d}}}}]}\n", i, strings.ReplaceAll(when, "'", "''"), i)
	}
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{})
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	return set
}

// TestConflictsAreCertain is the promise of the package: where it tells a conflict, there is an object for which both rules hold, unless
// one of them holds for no object at all.
func TestConflictsAreCertain(t *testing.T) {
	told := 0
	rapid.Check(t, func(t *rapid.T) {
		pick := func(texts ...string) string { return rapid.SampledFrom(texts).Draw(t, "part") }
		var conditions [2]string
		for i := range conditions {
			for range rapid.IntRange(1, 3).Draw(t, "parts") {
				subject := pick("object.spec.a", "object.spec.b", "object.spec?.a", "(object.spec.a ?? 1)", "(object.spec.b ?? 3)")
				part := pick("!(", "(") + subject + pick(" == ", " != ", " < ", " <= ", " > ", " >= ") + pick("1", "2", "2.5", "object.spec.b") + ")"
				if list := pick("", "[1, 3]", "[2, nil]"); list != "" {
					part = pick("", "!") + "(" + subject + " in " + list + ")"
				}
				conditions[i] += " && " + part
			}
			conditions[i] = strings.TrimPrefix(conditions[i], " && ")
		}
		set := rivals(t, conditions)
		if len(set.Warnings()) == 0 {
			return
		}
		told++
		var holds [2]bool
		values := []any{nil, int64(0), int64(1), int64(2), 2.25, 2.5, int64(3), 3.5, "x"}
		for _, a := range values {
			for _, b := range values {
				object := map[string]any{"spec": map[string]any{"a": a, "b": b}}
				p := set.Evaluate(rules.Snapshot{GVR: set.Selections()[0].GVR, Object: object, SelectedBy: set.Selections()})
				both := true
				for i, d := range p.Decisions {
					hold := d.Outcome != plan.Unmatched && d.Outcome != plan.Failed
					holds[i] = holds[i] || hold
					both = both && hold
				}
				if both {
					return
				}
			}
		}
		if !holds[0] || !holds[1] {
			return
		}
		t.Fatalf("no object is as both say: %s", conditions)
	})
	if told < 10 {
		t.Errorf("%d conflicts were told", told)
	}
}

// TestConditions is about the conditions of two rules that set one field to two values: a conflict is told where both certainly hold
// for some object.
func TestConditions(t *testing.T) {
	few := `object.spec.mode in [` + strings.TrimSuffix(strings.Repeat(`"abc",`, 64), ",") + "]"
	for _, tc := range []struct {
		reason string
		a, b   string
		both   bool
	}{
		{"Two fields have nothing to do with each other.", `object.spec.mode == "a"`, `object.spec.kind == "b"`, true},
		{"Optional access is the same field.", `object.spec?.mode == "a"`, `object.spec["mode"] == "b"`, false},
		{"A field that is absent is another, too.", `object.spec.mode != "b"`, `object.spec.mode == nil`, true},
		{"What is in something that is absent is absent.", `object.spec.tls == nil`, `object.spec.tls?.mode == "on"`, false},
		{"And may be anything in what is there.", `object.spec.tls != nil`, `object.spec.tls?.mode == "on"`, true},
		{"What is made of a value depends on that.", `object.spec.x == "7"`, `int(object.spec.x) == 5`, false},
		{"What is nil has no value.", `object.spec.x == nil`, `object.spec.x == 3`, false},
		{"A key that is not there has no value.", `object.metadata.labels.a == "x"`, `not ("a" in object.metadata.labels)`, false},
		{"A key may have a value.", `object.metadata.labels.a == "x"`, `"a" in object.metadata.labels`, true},
		{"A condition has one status.", `condition(object, "Ready")?.status == "True"`, `condition(object, "Ready")?.status == "False"`, false},
		{"Two conditions have one each.", `condition(object, "Ready")?.status == "True"`, `condition(object, "Stalled")?.status == "False"`, true},
		{"Ranges overlap.", `object.spec.n > 3`, `object.spec.n < 5`, true},
		{"The ends of ranges touch.", `object.spec.n >= 3`, `object.spec.n <= 3`, true},
		{"They touch, but one is open.", `3 < object.spec.n`, `object.spec.n <= 3.0`, false},
		{"A number is in no other range.", `object.spec.n == 2`, `object.spec.n > 2`, false},
		{"A parameter is a constant.", `object.spec.n >= params.least`, `object.spec.n < 3`, false},
		{"So is one within one.", `object.spec.mode == params.class`, `object.spec.mode == "slow"`, false},
		{"Integers are compared exactly.", `object.spec.n > 9007199254740992`, `object.spec.n <= 9007199254740993`, true},
		{"Where floats would be the same.", `object.spec.n >= 9007199254740993`, `object.spec.n <= 9007199254740992`, false},
		{"Lists have a value in common.", `object.spec.mode in ["a", "b"]`, `object.spec.mode in ["b", "c"]`, true},
		{"The other rule takes it away.", `object.spec.mode in ["a", "b"] && object.spec.mode != "b"`, `object.spec.mode in ["b", "c"]`, false},
		{"One is in the list, the other is not.", `object.spec.mode in ["a"]`, `!(object.spec.mode in ["a", "b"])`, false},
		{"nil may be in a list.", `object.spec.mode in [nil, "a"]`, `object.spec.mode == nil`, true},
		{"Of long lists nothing is known.", few + ` && object.spec.mode in ["b"]`, `object.spec.kind == nil`, false},
		{"A default stands in for nil.", `(object.spec.n ?? 0) > 0`, `object.spec.n == nil`, false},
		{"A default may be what is asked for.", `(object.spec.n ?? 5) > 0`, `object.spec.n == nil`, true},
		{"A flag that is absent is off.", `object.spec.paused ?? false`, `!(object.spec.paused == true)`, false},
		{"One part that contradicts is enough.", `object.spec.a && object.spec.n > 3`, `object.spec.n < 2 && object.spec.kind == "x"`, false},
		{"Neither of two, and one of them.", `!(object.spec.a || object.spec.n > 3)`, `object.spec.n > 3`, false},
		{"A condition that never holds.", `object.spec.n < 2 && object.spec.n > 3`, `object.spec.kind == "x"`, false},

		{"What is not compared with a constant may exclude the other.", `object.spec.a == object.spec.b`, `object.spec.kind == "x"`, false},
		{"Both say it.", `object.spec.a == object.spec.b`, `object.spec.b > 3 && object.spec.a == object.spec.b`, true},
		{"Or it is the other negated.", `object.spec.a < object.spec.b`, `object.spec.a >= object.spec.b`, false},
		{"Of one that says or nothing is known.", `object.spec.a || object.spec.b`, `object.spec.c`, false},
		{"A sign makes another value.", `-object.spec.a == object.spec.b`, `-object.spec.a == object.spec.b && !object.spec.c`, true},
		{"What holds for an element.", `any(object.spec.l, .x > 3)`, `any(object.spec.l, .x > 3) && object.spec.n > 3`, true},
		{"Two texts can be one quantity.", `quantity(object.spec.size) == "1Gi"`, `quantity(object.spec.size) == "1024Mi"`, false},
		{"A number of a text is a number.", `int(object.spec.a) == 1`, `int(object.spec.a) in [1, 2]`, true},
		{"Texts have no order here.", `object.spec.a < "b"`, `object.spec.a > "c"`, false},
	} {
		for _, order := range [][2]string{{tc.a, tc.b}, {tc.b, tc.a}} {
			set := rivals(t, order)
			if both := len(set.Warnings()) == 1 && set.Warnings()[0].Code == document.CodeConflict; both != tc.both || !both && len(set.Warnings()) > 0 {
				t.Errorf("%s\n%s\n%s\nconflict: %t, want %t\n%s", tc.reason, order[0], order[1], both, tc.both, set.Warnings().Render())
			}
		}
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
