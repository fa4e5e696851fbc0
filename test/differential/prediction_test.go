package differential

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// TestPredictions holds that what a plan says of an operation is what becomes of the object. Each pair is an object that several managers
// have written, and an operation on it. Most of them are of the simulated API server, the others of the real one.
// DIFFERENTIAL_SEED, DIFFERENTIAL_FIRST and DIFFERENTIAL_PREDICTIONS ask for others.
func TestPredictions(t *testing.T) {
	const ofReal = 7 // One of so many.
	seed, first, pairs := number64(t, "DIFFERENTIAL_SEED", 6), number64(t, "DIFFERENTIAL_FIRST", 0), number64(t, "DIFFERENTIAL_PREDICTIONS", 2400)
	kinds := predicted(t)
	var mu sync.Mutex
	counts := map[string]int{}
	next := make(chan int)
	var runners sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		runners.Go(func() {
			for index := range next {
				p := &prediction{seed: seed, index: index, real: index%ofReal == 0, Rand: rand.New(rand.NewPCG(seed, uint64(index)))}
				p.of = kinds[p.IntN(len(kinds))]
				what, err := p.run(t.Context())
				mu.Lock()
				counts[what]++
				mu.Unlock()
				if err != nil {
					t.Errorf("pair %d of seed %d, %s:\n%s\n%v", index, seed, what, strings.Join(p.told, "\n"), err)
				}
			}
		})
	}
	for index := range int(pairs) {
		next <- int(first) + index
	}
	close(next)
	runners.Wait()
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%6d %s", counts[what], what)
	}
}

// predictedKind is what predictions are about: parts of bodies, of which some are written together.
type predictedKind struct {
	*kind
	base  map[string]any
	parts []any
	// status are parts that are written through the subresource.
	status []any
}

// predicted reads the table.
func predicted(t *testing.T) (out []predictedKind) {
	t.Helper()
	for _, row := range predictionTable {
		i := slices.IndexFunc(shared.kinds, func(k *kind) bool {
			return k.GroupVersionResource.Resource == row.resource && (!k.custom || k.Version == "v1")
		})
		if i < 0 {
			t.Fatalf("there is no %s", row.resource)
		}
		one := predictedKind{kind: shared.kinds[i]}
		one.base, _ = mustRead(row.base).(map[string]any)
		if !one.custom {
			one.base, _ = merged(one.seed, one.base).(map[string]any)
		}
		one.base["apiVersion"], one.base["kind"] = one.apiVersion(), one.Kind
		one.parts, _ = mustRead(row.parts).([]any)
		if row.status != "" {
			one.status, _ = mustRead(row.status).([]any)
		}
		out = append(out, one)
	}
	return out
}

// prediction is one pair. It is for one goroutine.
type prediction struct {
	*rand.Rand
	seed  uint64
	index int
	of    predictedKind
	real  bool
	api   dynamic.ResourceInterface
	name  string
	told  []string
}

// run makes the object and has the operation predicted and sent. It returns what came of it, in short.
func (p *prediction) run(ctx context.Context) (what string, err error) {
	config := rest.CopyConfig(control.RESTConfig())
	if !p.real {
		world := storage.NewWorld(clocktesting.NewFakeClock(time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)))
		config = &rest.Config{Host: "http://simulated", Transport: shared.server.Transport(world)}
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("making a client: %w", err)
	}
	p.name = fmt.Sprintf("p%d-%d", p.seed, p.index)
	p.api = client.Resource(p.of.GroupVersionResource).Namespace("default")
	if err := p.prepare(ctx); err != nil {
		return "cannot be made", err
	}
	defer func() { _ = p.api.Delete(context.WithoutCancel(ctx), p.name, metav1.DeleteOptions{}) }() // Another pair has another name.
	before, err := p.read(ctx)
	if err != nil {
		return "", err
	}
	wish := p.wish(before)
	p.tell("wish "+string(wish.Type)+" "+wish.Subresource, wish.Rule.FieldManager(), wish.Body)
	what = fmt.Sprintf("%s %s", wish.Type, wish.Subresource)
	catalog := schema.NewCatalog(catalogOf(p.of.kind), builtin.Source())
	options := plan.Options{Canonical: catalog.Canonical, Applied: catalog.Applied, AppliedWhole: catalog.AppliedWhole, Grain: catalog.Grain}
	built := plan.Build([]plan.Wish{wish}, options)
	if len(built.Decisions) > 0 {
		return what + " cannot be made", nil
	}
	writer, err := write.NewClient(config)
	if err != nil {
		return "", err
	}
	operation := plan.Operation{
		Target: wish.Target, Subresource: wish.Subresource, Type: wish.Type, Body: wish.Body, Manager: wish.Rule.FieldManager(),
		Force: wish.Force, Release: wish.Release, Rules: []plan.Rule{wish.Rule},
	}
	if wish.Type != plan.Apply {
		operation.Manager = plan.FieldManager
	}
	switch {
	case len(built.Operations) > 0:
		if operation = built.Operations[0]; operation.GivesUp && !operation.Orphans() {
			operation = options.Predict(operation, before) // As it is known live.
		}
	case wish.Type == plan.Apply:
		what += " changes nothing" // So the API server has to say.
	default: // To take something out of a map that is not there would make the map.
		return what + " is not sent", nil
	}
	if result := writer.Write(ctx, operation); result.Class.Failed() {
		return what + " is refused", nil
	}
	after, err := p.read(ctx)
	if err != nil {
		return what, err
	}
	var says []string
	for _, change := range operation.Changes {
		says = append(says, shownAs(change)...)
	}
	var is []string
	for _, change := range p.differences(before, after) {
		is = append(is, shownAs(change)...)
	}
	// A targetPort that is taken away becomes the port, and policyTypes those for which there are rules: no schema tells such defaults.
	filled := func(line string) bool {
		return p.of.Kind == "Service" && strings.Contains(line, ".targetPort: ") || p.of.Kind == "NetworkPolicy" && strings.HasPrefix(line, "spec.policyTypes")
	}
	says, is = slices.DeleteFunc(says, filled), slices.DeleteFunc(is, filled)
	slices.Sort(says)
	slices.Sort(is)
	if diff := cmp.Diff(is, says, cmpopts.EquateEmpty()); diff != "" {
		owners, _ := json.Marshal(plan.Managers(before, nil))
		return what, fmt.Errorf("it is not what was predicted (-is +predicted):\n%s\n%s", diff, owners)
	}
	return what, nil
}

// catalogOf has the one resource.
func catalogOf(k *kind) *schema.Index {
	var out schema.Index
	out.Add(schema.Name{GroupVersionResource: k.GroupVersionResource, Kind: k.Kind}, func() *schema.Resource { return k.Resource })
	return &out
}

// ruleOf is the rule that wishes, and ruleOther another one.
var (
	ruleOf    = plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "rule"}
	ruleOther = plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "other"}
)

// prepare makes the object and has some managers write to it.
func (p *prediction) prepare(ctx context.Context) error {
	object := &unstructured.Unstructured{Object: p.of.base}
	object = object.DeepCopy()
	object.SetName(p.name)
	object.SetNamespace("default")
	if _, err := p.api.Create(ctx, object, metav1.CreateOptions{FieldManager: "kubectl-create"}); err != nil {
		return fmt.Errorf("making the object: %w", err)
	}
	for range 1 + p.IntN(5) {
		body := p.body(p.of.parts)
		manager := []string{"helm", "kubectl", ruleOf.FieldManager(), ruleOf.FieldManager(), ruleOther.FieldManager(), "kubectl-edit", plan.FieldManager}[p.IntN(7)]
		kind, options, subresources := types.ApplyPatchType, metav1.PatchOptions{FieldManager: manager, Force: new(true)}, []string(nil)
		if manager == "kubectl-edit" || manager == plan.FieldManager {
			kind, options.Force = types.MergePatchType, nil
		}
		if len(p.of.status) > 0 && p.IntN(6) == 0 {
			body, subresources = p.body(p.of.status), []string{"status"}
		}
		if kind == types.ApplyPatchType {
			body["apiVersion"], body["kind"] = p.of.apiVersion(), p.of.Kind
		}
		data, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
		if _, err = p.api.Patch(ctx, p.name, kind, data, options, subresources...); err == nil {
			p.tell(fmt.Sprint(kind, subresources), manager, body)
		} else if !apierrors.IsInvalid(err) && !apierrors.IsConflict(err) && !apierrors.IsBadRequest(err) && !apierrors.IsInternalError(err) {
			return fmt.Errorf("writing as %s: %w", manager, err)
		}
	}
	return nil
}

func (p *prediction) tell(what, manager string, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		data = []byte(err.Error())
	}
	p.told = append(p.told, fmt.Sprintf("%s by %s: %s", what, manager, data))
}

// body merges some parts.
func (p *prediction) body(parts []any) map[string]any {
	out := any(map[string]any{})
	for range 1 + p.IntN(3) {
		out = merged(out, parts[p.IntN(len(parts))])
	}
	body, _ := (&unstructured.Unstructured{Object: out.(map[string]any)}).DeepCopy().Object, 0
	return body
}

// wish is what a rule wants of the object.
func (p *prediction) wish(current map[string]any) plan.Wish {
	w := plan.Wish{Rule: ruleOf, Target: plan.ObjectOf(p.of.GroupVersionResource, current), Current: current, Type: plan.Apply, Force: p.IntN(2) == 0}
	body := p.body(p.of.parts)
	if len(p.of.status) > 0 && p.IntN(5) == 0 {
		w.Subresource, body = "status", p.body(p.of.status)
	}
	switch p.IntN(6) {
	case 0, 1, 2: // Of a child all is ours.
		w.Release = []plan.ReleasePolicy{"", plan.RemoveFields, plan.OrphanFields}[p.IntN(3)]
		if w.Subresource != "" && w.Release == plan.OrphanFields {
			w.Release = plan.RemoveFields
		}
		w.Force = w.Force || w.Release == ""
		w.Body = body
	case 3, 4:
		w.Type, w.Force, w.Body = plan.Merge, false, p.nulled(body)
	default:
		w.Type, w.Force = plan.JSON, false
		var steps []any
		for _, top := range slices.Sorted(maps.Keys(body)) {
			below, _ := body[top].(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(below)) {
				path := plan.Path{top, key}.Pointer()
				switch _, there := plan.Lookup(current, plan.Path{top, key}); {
				case there && p.IntN(3) == 0 && key != "template":
					steps = append(steps, map[string]any{"op": "remove", "path": path})
				default:
					steps = append(steps, map[string]any{"op": "add", "path": path, "value": below[key]})
				}
			}
		}
		w.Body = steps
	}
	return w
}

// nulled takes some fields away instead.
func (p *prediction) nulled(body map[string]any) map[string]any {
	for _, key := range slices.Sorted(maps.Keys(body)) {
		below, _ := body[key].(map[string]any)
		for _, field := range slices.Sorted(maps.Keys(below)) {
			if p.IntN(4) == 0 && field != "template" { // No object is without one.
				below[field] = nil
			}
		}
	}
	return body
}

// read returns the object as it is stored.
func (p *prediction) read(ctx context.Context) (map[string]any, error) {
	found, err := p.api.Get(ctx, p.name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	return found.Object, nil
}

// differences are those of two versions of the object, but for what each write changes in the metadata. The simulated API server takes
// objects of built-in kinds as they are, and adds no defaults.
func (p *prediction) differences(before, after map[string]any) []plan.Change {
	if !p.real && !p.of.custom {
		catalog := schema.NewCatalog(builtin.Source())
		before, after = catalog.Canonical(p.of.GroupVersionResource, before), catalog.Canonical(p.of.GroupVersionResource, after)
	}
	written := []string{"resourceVersion", "generation", "managedFields"}
	return differing(nil, nil, plan.WithoutMetadata(before, written...), plan.WithoutMetadata(after, written...))
}

// differing lists the fields that differ: of a map each of its fields, of a list the whole.
func differing(out []plan.Change, path plan.Path, before, after map[string]any) []plan.Change {
	keys := map[string]any{}
	maps.Copy(keys, before)
	maps.Copy(keys, after)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		was, there := before[key]
		is := after[key]
		if plan.Equal(was, is) {
			continue
		}
		at := append(slices.Clip(path), key)
		oldMap, wasMap := was.(map[string]any)
		newMap, isMap := is.(map[string]any)
		if wasMap && isMap || !there && isMap && len(newMap) > 0 {
			out = differing(out, at, oldMap, newMap)
			continue
		}
		out = append(out, plan.Change{Path: at, Before: was, After: is})
	}
	return out
}

// shownAs is how a change is shown.
func shownAs(c plan.Change) []string {
	_, wasList := c.Before.([]any)
	if _, isList := c.After.([]any); wasList && isList {
		return compare.Changes(c.Path, c.Before, c.After)
	}
	show := func(v any) string {
		if v == nil {
			return "none"
		}
		return compare.Show(v)
	}
	return []string{fmt.Sprintf("%s: %s -> %s", c.Path, show(c.Before), show(c.After))}
}
