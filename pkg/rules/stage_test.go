package rules_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

var (
	nodes       = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	resourceFor = map[string]schema.GroupVersionResource{
		"TidbCluster": tidbclusters, "Pod": pods, "ConfigMap": configMaps, "Secret": secrets, "Node": nodes,
	}
)

// tester is a test, of the testing package or of rapid.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// stage is a set and the objects of a cluster, in which plans are carried out as
// an API server would.
type stage struct {
	t       tester
	set     *rules.Set
	objects lookup.Objects
	now     time.Time
	held    map[plan.Rule]time.Time
	related lookup.Source // nil for the objects
	made    int
}

// newStage loads whole documents as files of their own. Objects are in the
// namespace db where they say nothing else.
func newStage(t tester, files []string, objects ...string) *stage {
	t.Helper()
	var all []document.File
	for i, text := range files {
		all = append(all, document.File{Name: fmt.Sprintf("%d.yaml", i), Data: []byte(text)})
	}
	set, errs := rules.Load(all, rules.Options{DefaultNamespace: "db"})
	if len(errs) > 0 {
		t.Fatalf("loading the rules:\n%s", errs.Render())
	}
	s := &stage{t: t, set: set, objects: lookup.Objects{}, now: noon, held: map[plan.Rule]time.Time{}}
	for _, text := range objects {
		s.add(text)
	}
	return s
}

func (s *stage) add(text string) {
	s.t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		s.t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		s.t.Fatal(err)
	}
	kind, _ := out["kind"].(string)
	gvr, known := resourceFor[kind]
	if !known {
		s.t.Fatalf("the kind %q is not known", kind)
	}
	metadata, _ := out["metadata"].(map[string]any)
	if kind != "Node" && metadata["namespace"] == nil {
		metadata["namespace"] = "db"
	}
	if metadata["uid"] == nil {
		metadata["uid"] = fmt.Sprintf("u-%v", metadata["name"])
	}
	out["apiVersion"] = gvr.GroupVersion().String()
	metadata["resourceVersion"] = "1"
	s.objects[gvr] = append(s.objects[gvr], out)
}

func metadataOf(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	return metadata
}

// find returns the index of an object, -1 where it is not there.
func (s *stage) find(gvr schema.GroupVersionResource, namespace, name string) int {
	return slices.IndexFunc(s.objects[gvr], func(object map[string]any) bool {
		at, _ := metadataOf(object)["namespace"].(string)
		return at == namespace && metadataOf(object)["name"] == name
	})
}

// snapshot is what the set knows of the cluster that is called basic, which may
// be gone.
func (s *stage) snapshot() rules.Snapshot {
	out := rules.Snapshot{
		GVR: tidbclusters, Now: s.now, Related: s.related, Explain: true,
		Gone:  plan.Object{GVR: tidbclusters, Kind: "TidbCluster", Namespace: "db", Name: "basic", UID: "u-basic"},
		State: rules.State{HeldSince: s.held},
		Kinds: map[schema.GroupVersionResource]plan.Kind{},
	}
	for kind, gvr := range resourceFor {
		out.Kinds[gvr] = plan.Kind{Name: kind, Namespaced: kind != "Node"}
	}
	if out.Related == nil {
		out.Related = s.objects
	}
	if i := s.find(tidbclusters, "db", "basic"); i >= 0 {
		out.Object = s.objects[tidbclusters][i]
	}
	for _, selection := range s.set.Selections() {
		switch {
		case selection.GVR != tidbclusters || out.Object == nil:
		case selection.Admits(out.Object):
			out.SelectedBy = append(out.SelectedBy, selection)
		default:
			out.LeftBy = append(out.LeftBy, selection)
		}
	}
	return out
}

// evaluate also keeps since when the rules hold, as the engine does.
func (s *stage) evaluate() plan.Plan {
	sameWhenReduced(s.t, s.set, s.snapshot())
	p := s.set.Evaluate(s.snapshot())
	s.held = map[plan.Rule]time.Time{}
	for _, d := range p.Decisions {
		if !d.HeldSince.IsZero() {
			s.held[d.Rule] = d.HeldSince
		}
	}
	return p
}

// settle carries out plans until one has no operation, and returns that one.
func (s *stage) settle() (plan.Plan, error) {
	const most = 10
	for range most {
		p := s.evaluate()
		if len(p.Operations) == 0 {
			return p, nil
		}
		for _, o := range p.Operations {
			s.carryOut(o)
		}
	}
	return plan.Plan{}, errors.New("it does not settle")
}

// carryOut writes as an API server does that has no schema and nobody else who
// writes.
func (s *stage) carryOut(o plan.Operation) {
	s.made++
	target := o.Target
	i := s.find(target.GVR, target.Namespace, target.Name)
	if o.Type == plan.Delete {
		s.objects[target.GVR] = slices.Delete(slices.Clone(s.objects[target.GVR]), i, i+1)
		return
	}
	after := maps.Clone(o.Predicted)
	metadata := maps.Clone(metadataOf(after))
	if metadata == nil {
		metadata = map[string]any{}
	}
	after["apiVersion"], after["kind"], after["metadata"] = target.GVR.GroupVersion().String(), target.Kind, metadata
	prefix, _ := metadata["generateName"].(string)
	metadata["name"] = cmp.Or(target.Name, prefix+strconv.Itoa(s.made))
	if target.Namespace != "" {
		metadata["namespace"] = target.Namespace
	}
	if metadata["uid"] == nil {
		metadata["uid"] = fmt.Sprintf("u-%v", metadata["name"])
	}
	metadata["resourceVersion"] = strconv.Itoa(100 + s.made)
	if o.Type == plan.Apply {
		metadata["managedFields"] = owned(metadata["managedFields"], o)
	}
	all := slices.Clone(s.objects[target.GVR])
	if i >= 0 {
		all[i] = after
	} else {
		all = append(all, after)
	}
	s.objects[target.GVR] = all
}

// owned replaces the entry of the one who applies.
func owned(entries any, o plan.Operation) []any {
	list, _ := entries.([]any)
	list = slices.DeleteFunc(slices.Clone(list), func(entry any) bool {
		fields, _ := entry.(map[string]any)
		return fields["manager"] == o.Manager
	})
	return append(list, map[string]any{"manager": o.Manager, "operation": "Apply", "fieldsV1": fieldsOf(o.Body)})
}

// fieldsOf is a FieldsV1 tree, in which lists are owned as a whole.
func fieldsOf(body any) map[string]any {
	out := map[string]any{}
	fields, _ := body.(map[string]any)
	for key, value := range fields {
		out["f:"+key] = fieldsOf(value)
	}
	return out
}

// uids of what the cluster holds, for the tests that count.
func (s *stage) uids(gvr schema.GroupVersionResource) []types.UID {
	var out []types.UID
	for _, object := range s.objects[gvr] {
		uid, _ := metadataOf(object)["uid"].(string)
		out = append(out, types.UID(uid))
	}
	slices.Sort(out)
	return out
}
