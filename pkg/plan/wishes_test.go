package plan

import (
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// cluster has the objects of a case by name, as YAML.
type cluster map[string]string

// object is the target of a name: what is not in the cluster has no uid, and
// "-" no name either.
func (c cluster) object(name string) Object {
	out := Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Kind: "Pod", Namespace: "ns", Name: name}
	if name == "-" {
		out.Name = ""
	}
	if _, exists := c[name]; exists {
		out.UID, out.ResourceVersion = types.UID("uid-"+name), "7"
	}
	return out
}

// wishes reads lines such as these, each after the name of its rule:
//
//	a merge x {spec: {a: 1}}
//	a merge x/status {status: {ready: true}}
//	a finalizer x +held
//	a delete x grace=5 policy=Orphan
func (c cluster) wishes(t *testing.T, lines ...string) []Wish {
	t.Helper()
	var out []Wish
	for _, line := range lines {
		words := strings.SplitN(line, " ", 4)
		name, kind := words[0], Type(words[1])
		target, subresource, _ := strings.Cut(words[2], "/")
		w := Wish{Rule: rule(name), Type: kind, Target: c.object(target), Subresource: subresource}
		if text, exists := c[target]; exists {
			w.Current = decode[map[string]any](t, text)
		}
		rest := ""
		if len(words) > 3 {
			rest = words[3]
		}
		switch kind {
		case Delete:
			w.Body = deletionOf(t, rest)
		case Finalize:
			w.Body = Finalizer{Name: rest[1:], Present: rest[0] == '+'}
		default:
			w.Body = decode[any](t, rest)
		}
		out = append(out, w)
	}
	return out
}

func deletionOf(t *testing.T, text string) Deletion {
	t.Helper()
	var out Deletion
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, "=")
		if key == "policy" {
			out.PropagationPolicy = value
			continue
		}
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out.GracePeriodSeconds = &seconds
	}
	return out
}

// written is an operation in a line: type, object, rules and body.
func written(t *testing.T, operations []Operation) []string {
	t.Helper()
	var out []string
	for _, o := range operations {
		name := o.Target.Name
		if name == "" {
			name = "-"
		}
		out = append(out, strings.Join([]string{string(o.Type), name, strings.Join(ruleNames(o.Rules), "+"), encode(t, o.Body)}, " "))
	}
	return out
}

func decided(decisions []Decision) []string {
	var out []string
	for _, d := range decisions {
		out = append(out, d.Rule.Name+" "+string(d.Outcome)+": "+d.Reason)
	}
	return out
}
