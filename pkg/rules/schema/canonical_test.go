package schema

import (
	"encoding/json"
	"maps"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func TestCanonical(t *testing.T) {
	tests := map[string]struct {
		reason string
		of     string
		value  string
		want   string // empty: the value itself
	}{
		"AsStored": {
			"What is stored so stays what it is.",
			`{a: int, b: {c: text}, d: {items: quantity}}`,
			`{a: 1, b: {c: x}, d: [500m, 2Gi]}`,
			"",
		},
		"Unknown": {
			"Unknown fields stay at any depth: the schema may be older than what the API server goes by.",
			`{a: {b: int}, l: {items: {b: int}}}`,
			`{a: {b: 1, c: 2}, x: null, l: [{b: 1, c: {d: null}}]}`,
			"",
		},
		"Default":         {"A default is added.", `{a=1: int, b: int}`, `{b: 2}`, `{a: 1, b: 2}`},
		"InPresentParent": {"Nor where its parent is absent.", `{p: {a=1: int}, q: {a=1: int}}`, `{p: {}}`, `{p: {a: 1}}`},
		"InDefault": {
			"A default has defaults in it.",
			`{"p={}": {a=1: int, "q={}": {b=2: int}}}`,
			`{}`,
			`{p: {a: 1, q: {b: 2}}}`,
		},
		"Null":        {"Null is not stored.", `{a: int, b: {"*": text}}`, `{a: null, b: {c: null}}`, `{b: {}}`},
		"NullDefault": {"In its place comes the default.", `{a=1: int}`, `{a: null}`, `{a: 1}`},
		"NullStored": {
			"Unless the schema wants null.",
			`{a=1: "int?", b: "text?", c: any}`,
			`{a: null, b: null, c: null}`,
			"",
		},
		"NullElement": {"In a list the API server refuses it.", `{items: text}`, `[null]`, ""},
		"Zero": {
			"Go types leave out what is zero.",
			`{a-: bool, b-: int, c-: text, d-: {items: int}, e-: {"*": text}, f-: float}`,
			`{a: false, b: 0, c: "", d: [], e: {}, f: 0.0}`,
			`{}`,
		},
		"NotZero": {
			"And nothing else.",
			`{a-: bool, b: bool, c: {items: int}, d: {"*": int}}`,
			`{a: true, b: false, c: [], d: {}}`,
			"",
		},
		"ZeroToZero": {"A default that is not stored is none.", `{a-=0: int}`, `{}`, ""},
		"Quantity": {
			"A quantity has one text.",
			`{"*": quantity}`,
			`{a: 1000m, b: 0.5Gi, c: 1, d: 0.1, e: "1e3", f: " 5", g: 1000000}`,
			`{a: "1", b: 512Mi, c: "1", d: 100m, e: "1e3", f: "5", g: 1M}`,
		},
		"QuantityWrong": {
			"What is none stays as it is.",
			`{"*": quantity}`,
			`{a: lots, b: "", c: [1], d: "1e999999999"}`,
			"",
		},
		"IntOrText":  {"An integer or a text stays what it was.", `{items: int-or-text}`, `[1, "1", 50%]`, ""},
		"WholeFloat": {"An integer is one.", `{a: int, b: float}`, `{a: 3.0, b: 3.0}`, `{a: 3, b: 3.0}`},
		"Fraction":   {"A fraction is none.", `int`, `3.5`, ""},
		"Time": {
			"A built-in time is in UTC, and whole seconds.",
			`{items: time}`,
			`["2026-01-31T12:00:00+01:00", "2026-01-31T11:00:00.9Z", "2026-01-31T11:00:00Z"]`,
			`["2026-01-31T11:00:00Z", "2026-01-31T11:00:00Z", "2026-01-31T11:00:00Z"]`,
		},
		"MicroTime": {
			"Some have microseconds.",
			`micro-time`,
			`"2026-01-31T12:00:00.123456+01:00"`,
			`"2026-01-31T11:00:00.123456Z"`,
		},
		"Bytes": {"Base64 is one line.", `bytes`, `"Zm9v\n"`, `Zm9v`},
		"OtherKind": {
			"What the API server refuses stays as it is.",
			`{a: int, b: {c: int}, d: {items: int}}`,
			`{a: [1], b: [{c: 1, x: 1}], d: {x: 1}}`,
			"",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			of, v := typeOf(t, tc.of), parse(t, tc.value)
			want := v
			if tc.want != "" {
				want = parse(t, tc.want)
			}
			got := of.Canonical(v)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.want == "" && !itself(v, got) {
				t.Error("it was copied although nothing changes")
			}
			if diff := cmp.Diff(parse(t, tc.value), v); diff != "" {
				t.Errorf("the value was changed (-before +after):\n%s", diff)
			}
			if again := of.Canonical(got); !cmp.Equal(got, again) {
				t.Errorf("it changes again: %s", cmp.Diff(got, again))
			}
			if !same(of, v, got) || !same(of, got, v) {
				t.Error("what is stored is the same as what was written")
			}
		})
	}
}

// itself reports whether two values are one.
func itself(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch x.Kind() {
	case reflect.Map, reflect.Slice:
		return x.UnsafePointer() == y.UnsafePointer()
	default:
		return a == b
	}
}

// same reports whether storing a has the same effect as storing b.
func same(t *Type, a, b any) bool {
	equal, err := value.Equal(t.Canonical(a), t.Canonical(b), value.NewBudget(value.Size(a)+value.Size(b)))
	return equal && err == nil
}

// TestCanonicalBounded holds that defaults that contain themselves come to an end, and that a value of such a type
// stays as it is.
func TestCanonicalBounded(t *testing.T) {
	endless := typeOf(t, `{a: int}`)
	endless.Map.Fields["self"] = Field{Type: endless, Default: map[string]any{}}
	endless.Map.Fields["other"] = Field{Type: endless, Default: map[string]any{}}
	bomb := typeOf(t, `{a: int}`)
	for range 40 {
		bomb = &Type{Kinds: bomb.Kinds, Map: &Map{Fields: map[string]Field{
			"x": {Type: bomb, Default: map[string]any{}}, "y": {Type: bomb, Default: map[string]any{}},
		}}}
	}
	for name, of := range map[string]*Type{"Endless": endless, "Bomb": bomb} {
		v := map[string]any{"a": int64(1)}
		if got := of.Canonical(v); !itself(v, got) {
			t.Errorf("%s: it became something else", name)
		}
	}
	recursive := typeOf(t, `{a=1: int}`)
	recursive.Map.Fields["self"] = Field{Type: recursive}
	if diff := cmp.Diff(parse(t, `{a: 1, self: {a: 2, self: {a: 1}}}`), recursive.Canonical(parse(t, `{self: {a: 2, self: {}}}`))); diff != "" {
		t.Errorf("a type that contains itself (-want +got):\n%s", diff)
	}
}

func TestCatalogCanonical(t *testing.T) {
	known := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
	catalog := NewCatalog(one{&Resource{GroupVersionResource: known, Type: typeOf(t, `{spec: {size=1: int}}`)}})
	object := map[string]any{"spec": map[string]any{}}
	if got := catalog.Canonical(known, object); !cmp.Equal(got, map[string]any{"spec": map[string]any{"size": int64(1)}}) {
		t.Errorf("a known resource: %v", got)
	}
	if got := catalog.Canonical(known, nil); got != nil {
		t.Errorf("no object: %v", got)
	}
	var none *Catalog
	for _, c := range []*Catalog{none, NewCatalog(), catalog} {
		if got := c.Canonical(known.GroupResource().WithVersion("v2"), object); !itself(object, got) {
			t.Errorf("an unknown resource: %v", got)
		}
	}
}

// one is a source of one resource.
type one struct{ known *Resource }

func (o one) Resources() []Name { return nil }
func (o one) Whole(string) bool { return false }
func (o one) Resource(gvr schema.GroupVersionResource) *Resource {
	if o.known.GroupVersionResource == gvr {
		return o.known
	}
	return nil
}

const deployment = `
is:
  apiVersion: text
  kind: text
  metadata: {name: text, namespace: text, uid: text, labels-: {"*": text}, annotations-: {"*": text}}
  spec:
    "replicas=1": int
    "revisionHistoryLimit=10": int
    paused-: bool
    selector: {matchLabels-: {"*": text}}
    strategy: {type: text, rollingUpdate: {maxSurge=25%: int-or-text, maxUnavailable=25%: int-or-text}}
    template:
      metadata: {labels-: {"*": text}, creationTimestamp: time}
      spec:
        containers:
          by: [name]
          items:
            name: text
            image-: text
            "imagePullPolicy=Always": text
            "terminationMessagePath=/dev/termination-log": text
            "terminationMessagePolicy=File": text
            env-: {items: {name: text, value-: text}, by: [name]}
            ports-: {items: {containerPort: int, hostPort-: int, "protocol=TCP": text}, by: [containerPort, protocol]}
            "resources={}": {limits-: {"*": quantity}, requests-: {"*": quantity}}
        "restartPolicy=Always": text
        "dnsPolicy=ClusterFirst": text
        hostNetwork-: bool
        "schedulerName=default-scheduler": text
        "terminationGracePeriodSeconds=30": int
        "securityContext={}": {runAsUser: int, fsGroup: int, runAsNonRoot: bool}
  status: {replicas-: int, readyReplicas-: int, conditions-: {items: {type: text, status: text, lastTransitionTime: time}, by: [type]}}
object: true
`

const deployed = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: u1, labels: {app: web}}
spec:
  replicas: 3
  revisionHistoryLimit: 10
  selector: {matchLabels: {app: web}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - &c
        name: web
        image: "web:1"
        imagePullPolicy: IfNotPresent
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
        env: [{name: A, value: b}, {name: C, value: d}]
        ports: [{containerPort: 80, protocol: TCP}, {containerPort: 443, protocol: TCP}]
        resources: {limits: {cpu: 500m, memory: 1Gi}, requests: {cpu: 100m, memory: 256Mi}}
      - {<<: *c, name: sidecar}
      restartPolicy: Always
      dnsPolicy: ClusterFirst
      schedulerName: default-scheduler
      terminationGracePeriodSeconds: 30
      securityContext: {}
status:
  replicas: 3
  conditions: [{type: Available, status: "True", lastTransitionTime: "2026-01-31T11:00:00Z"}]
`

// TestCanonicalOfStored holds that looking at an object as it is stored costs no memory.
func TestCanonicalOfStored(t *testing.T) {
	of, stored := typeOf(t, deployment), decoded(t, deployed)
	if got := of.Validate(stored, Whole); got != nil {
		t.Errorf("it is right: %v", allTold(got))
	}
	var got any
	if n := testing.AllocsPerRun(100, func() { got = of.Canonical(stored) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if !itself(stored, got) {
		t.Errorf("it changes: %s", cmp.Diff(stored, got))
	}
}

// decoded reads YAML with aliases.
func decoded(t testing.TB, text string) any {
	t.Helper()
	var plain any
	if err := yaml.Unmarshal([]byte(text), &plain); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(data))
}

func BenchmarkCanonical(b *testing.B) {
	of, stored := typeOf(b, deployment), decoded(b, deployed).(map[string]any)
	changed := maps.Clone(stored)
	changed["spec"] = maps.Clone(stored["spec"].(map[string]any))
	changed["spec"].(map[string]any)["revisionHistoryLimit"] = nil
	for name, v := range map[string]any{"AsStored": stored, "Changed": changed} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				of.Canonical(v)
			}
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	of, stored := typeOf(b, deployment), decoded(b, deployed)
	b.ReportAllocs()
	for b.Loop() {
		if got := of.Validate(stored, Whole); got != nil {
			b.Fatal(got)
		}
	}
}
