package action_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

var (
	clusters   = schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}
	configmaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	pods       = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	nodes      = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	widgets    = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

	rule = plan.Rule{Kind: "ClusterRuleSet", Set: "guard", Name: "quorum"}
	now  = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

var kinds = map[schema.GroupVersionResource]plan.Kind{
	clusters:   {Name: "TidbCluster", Namespaced: true},
	configmaps: {Name: "ConfigMap", Namespaced: true},
	pods:       {Name: "Pod", Namespaced: true},
	nodes:      {Name: "Node"},
}

// declared are the resources of the rules of the tests; the rules may see only
// some pods, and of here only those of one RuleSet.
var declared = lookup.Declarations{
	{Name: "tidbclusters", GVR: clusters, Selections: []plan.Selection{
		{GVR: clusters, Namespace: "tidb"}, {GVR: clusters, Namespace: "elsewhere"},
	}},
	{Name: "configmaps", GVR: configmaps, Selections: []plan.Selection{{GVR: configmaps}}},
	{Name: "pods", GVR: pods, Selections: []plan.Selection{{GVR: pods, LabelSelector: "app=db"}}},
	{Name: "nodes", GVR: nodes, Selections: []plan.Selection{{GVR: nodes}}},
	{Name: "widgets", GVR: widgets, Selections: []plan.Selection{{GVR: widgets}}},
	{Name: "here", GVR: configmaps, Namespace: "tidb", Selections: []plan.Selection{{GVR: configmaps, Namespace: "tidb"}}},
	{Name: "homeNodes", GVR: nodes, Namespace: "tidb", Selections: []plan.Selection{{GVR: nodes, Namespace: "tidb"}}},
}

// with are the related objects of the rule of the tests.
const with = `
pods: {resource: pods, matchLabels: {app: db}}
members: {resource: pods, ownedBy: object}
chosen: {resource: pods, selector: "${object.spec.selector}"}
config: {resource: configmaps, name: basic-config}
none: {resource: configmaps, name: nothing}
several: {resource: configmaps, names: [basic-config]}
`

// lets are the named values of the rule of the tests.
var lets = map[string]string{
	"failed": "filter(pods, .status?.phase == 'Failed')",
	"first":  "find(pods, true)",
	"sorted": "take(sortBy(pods, desc(.metadata.name)), 1)",
	"copy":   "merge(config, {})",
	"mixed":  "[object, config, nil]",
	"three":  "3",
	"names":  "['a', 'b']",
	"labels": "{'x': 'y', 'drop': nil}",
}

const watched = `
apiVersion: pingcap.com/v1alpha1
kind: TidbCluster
metadata: {name: basic, namespace: tidb, uid: u-1, resourceVersion: "7", labels: {env: prod}}
spec: {replicas: 2}
`

const twoPods = `
apiVersion: v1
kind: Pod
metadata: {name: p-0, namespace: tidb, uid: p0, resourceVersion: "10", labels: {app: db}}
status: {phase: Failed}
---
apiVersion: v1
kind: Pod
metadata: {name: p-1, namespace: tidb, uid: p1, resourceVersion: "11", labels: {app: db}}
status: {phase: Running}
`

// replaced returns an object that differs from the text in these pairs.
func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(append(pairs, "guard-SET", rule.SetID())...).Replace(text)
}

// fixture is a rule on an object, and what else there is.
type fixture struct {
	scope   *expression.Scope
	related map[string]*lookup.Lookup

	reader      *lookup.Reader
	expressions *expression.Evaluation
	names       []string
	lets        map[string]*expression.Program
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{related: map[string]*lookup.Lookup{}, lets: map[string]*expression.Program{}}
	root := parse(t, with)
	f.names = []string{"object", "params", "rule"}
	for _, entry := range root.Entries() {
		f.names = append(f.names, entry.Key.Text())
	}
	f.names = append(f.names, slices.Sorted(maps.Keys(lets))...) // Every fixture has the same slots.
	f.scope = expression.NewScope(f.names...)
	for _, entry := range root.Entries() {
		compiled, errs := lookup.Compile(entry.Key.Text(), entry.Value, f.scope, declared)
		if len(errs) > 0 {
			t.Fatal(errs.Render())
		}
		f.related[entry.Key.Text()] = compiled
	}
	for name, text := range lets {
		program, err := expression.Compile(text, f.scope)
		if err != nil {
			t.Fatal(err)
		}
		f.lets[name] = program
	}
	return f
}

// Value implements [expression.Names].
func (f *fixture) Value(slot int) (any, error) {
	name := f.names[slot]
	switch {
	case name == "object":
		return f.reader.Current, nil
	case f.related[name] != nil:
		return f.related[name].Evaluate(f.expressions, f.reader)
	case f.lets[name] != nil:
		return f.lets[name].Eval(f.expressions)
	default:
		return nil, nil
	}
}

// env is that of a rule that watches TidbClusters and nodes.
func (f *fixture) env() action.Env {
	return action.Env{
		Scope: f.scope, Declared: declared, Related: f.related,
		Watched: slices.Concat(declared[0].Selections, declared[3].Selections),
	}
}

func (f *fixture) compile(t testing.TB, text string) (*action.Step, document.Errors) {
	t.Helper()
	return action.Compile(parse(t, text), f.env())
}

// begin returns the evaluation of the rule on the watched object, beside others.
func (f *fixture) begin(t testing.TB, watched, others string) *action.Evaluation {
	t.Helper()
	objects := lookup.Objects{}
	for _, object := range manifests(t, others) {
		gvr := resourceOf(t, object)
		objects[gvr] = append(objects[gvr], object)
	}
	return f.beginWith(t, watched, objects)
}

func (f *fixture) beginWith(t testing.TB, watched string, source lookup.Source) *action.Evaluation {
	t.Helper()
	current := manifests(t, watched)[0]
	metadata, _ := current["metadata"].(map[string]any)
	gvr := resourceOf(t, current)
	home := plan.Object{GVR: gvr, Kind: kinds[gvr].Name}
	home.Name, _ = metadata["name"].(string)
	home.Namespace, _ = metadata["namespace"].(string)
	home.ResourceVersion, _ = metadata["resourceVersion"].(string)
	uid, _ := metadata["uid"].(string)
	home.UID = types.UID(uid)
	f.reader = &lookup.Reader{Source: source, Kinds: kinds, Home: home, Current: current}
	f.expressions = &expression.Evaluation{Names: f, Budget: value.NewBudget(1 << 20), Instant: value.NewInstant(now)}
	return &action.Evaluation{Rule: rule, Object: home, Current: current, Expressions: f.expressions, Related: f.reader}
}

func parse(t testing.TB, text string) *document.Node {
	t.Helper()
	roots, errs := document.Parse(document.File{Name: "a.yaml", Data: []byte(text)})
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	return roots[0]
}

// manifests reads objects as they come from the API server.
func manifests(t testing.TB, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for part := range strings.SplitSeq(text, "\n---\n") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		data, err := yaml.YAMLToJSON([]byte(part))
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := utiljson.Unmarshal(data, &object); err != nil {
			t.Fatal(err)
		}
		out = append(out, object)
	}
	return out
}

func resourceOf(t testing.TB, object map[string]any) schema.GroupVersionResource {
	t.Helper()
	for gvr, kind := range kinds {
		if object["kind"] == kind.Name {
			return gvr
		}
	}
	t.Fatalf("no resource of kind %v", object["kind"])
	return schema.GroupVersionResource{}
}

// outcome writes what an evaluation wants as lines, without the marks that all
// children have.
func outcome(t testing.TB, e *action.Evaluation, err error) string {
	t.Helper()
	var b strings.Builder
	for _, w := range e.Wishes {
		if w.Rule != rule {
			t.Errorf("a wish is of %v", w.Rule)
		}
		fmt.Fprintf(&b, "%s %s", w.Type, w.Target)
		if w.Target.UID != "" {
			fmt.Fprintf(&b, " %s@%s", w.Target.UID, w.Target.ResourceVersion)
		}
		if w.Subresource != "" {
			fmt.Fprintf(&b, "/%s", w.Subresource)
		}
		if w.Force {
			b.WriteString(" force")
		}
		if w.Release != "" {
			fmt.Fprintf(&b, " release=%s", w.Release)
		}
		if len(w.Confirm) > 0 {
			b.WriteString(" confirm")
		}
		if w.Unseen != nil {
			fmt.Fprintf(&b, " unseen (%s)", unseenText(*w.Unseen))
		}
		if (w.Current != nil) != (w.Target.UID != "") {
			t.Error("a wish about an object that exists has not got it as it is")
		}
		fmt.Fprintf(&b, " %s\n", wishBody(t, w))
	}
	for _, event := range e.Events {
		fmt.Fprintf(&b, "%s\n", eventText(event))
	}
	if refusal, is := errors.AsType[*action.Refusal](err); is {
		b.WriteString("refused")
		for _, event := range refusal.Events {
			fmt.Fprintf(&b, " %s", eventText(event))
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func eventText(e plan.Event) string {
	return fmt.Sprintf("event %s %s %s %s: %s", e.Regarding, e.Type, e.Reason, e.Action, e.Message)
}

func wishBody(t testing.TB, w plan.Wish) string {
	t.Helper()
	body := w.Body
	if deletion, is := body.(plan.Deletion); is {
		text := deletion.PropagationPolicy
		if deletion.GracePeriodSeconds != nil {
			text += fmt.Sprintf(" %ds", *deletion.GracePeriodSeconds)
		}
		return text
	}
	if fields, is := body.(map[string]any); is && w.Target.GVR != clusters {
		body = withoutMarks(fields)
	}
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// withoutMarks replaces the marks of a child by one word, and its owner by
// another.
func withoutMarks(object map[string]any) map[string]any {
	out := maps.Clone(object)
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	labels, _ := metadata["labels"].(map[string]any)
	if labels[plan.LabelSet] == rule.SetID() && labels[plan.LabelRule] == rule.Name && labels[plan.LabelOwnerUID] == "u-1" {
		labels = maps.Clone(labels)
		delete(labels, plan.LabelSet)
		delete(labels, plan.LabelRule)
		delete(labels, plan.LabelOwnerUID)
		labels["ours"] = true
		metadata["labels"] = labels
	}
	if data, err := json.Marshal(metadata["ownerReferences"]); err == nil && string(data) == ownerReference {
		metadata["ownerReferences"] = "basic"
	}
	if metadata != nil {
		out["metadata"] = metadata
	}
	return out
}

const ownerReference = `[{"apiVersion":"pingcap.com/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"TidbCluster","name":"basic","uid":"u-1"}]`

// scenario is an action on a cluster. What it wants and what it fails with is
// compared word for word.
type scenario struct {
	reason  string
	action  string
	watched string // if it is not the usual one
	others  string
	want    string
	err     string
}

func (s scenario) run(t *testing.T) *action.Evaluation {
	t.Helper()
	f := newFixture(t)
	step, errs := f.compile(t, s.action)
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	about := watched
	if s.watched != "" {
		about = s.watched
	}
	e := f.begin(t, about, s.others)
	err := step.Evaluate(e)
	s.check(t, e, err)
	return e
}

func (s scenario) check(t *testing.T, e *action.Evaluation, err error) {
	t.Helper()
	if got := outcome(t, e, err); got != strings.TrimSpace(s.want) {
		t.Errorf("%s\n got:\n%s\nwant:\n%s", s.reason, got, strings.TrimSpace(s.want))
	}
	message := ""
	if err != nil {
		message = err.Error()
	}
	if message != s.err {
		t.Errorf("%s\n got error: %s\nwant error: %s", s.reason, message, s.err)
	}
	if _, located := errors.AsType[*document.Error](err); err != nil && !located {
		t.Errorf("%s The error has no place: %v", s.reason, err)
	}
}
