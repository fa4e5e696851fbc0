package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Objects are the RuleSets and ClusterRuleSets of a cluster, in all namespaces. It is
// safe for concurrent use.
type Objects struct {
	log       *slog.Logger
	informers *informer.Set
	changed   chan struct{} // has a value when something has changed

	mu     sync.Mutex
	logged map[informer.Key]string    // the error that was logged since the last success; guarded by mu
	read   map[*compact.Object]Object // the objects of the last List, by those of the caches; guarded by mu
}

// NewObjects returns the set objects that a client shows. Nothing is read before
// [Objects.Run].
func NewObjects(client dynamic.Interface, log *slog.Logger) *Objects {
	o := &Objects{log: log, changed: make(chan struct{}, 1), logged: map[informer.Key]string{}}
	// The handler logs errors, with advice, so the informers log nothing.
	o.informers = informer.NewSet(client, handler{o}, slog.New(slog.DiscardHandler), informer.Options{Lasting: true})
	return o
}

// Run watches the objects until the context is done. It is called once. Where they
// cannot be listed or watched, it tries again until they can, as when their CRDs are
// installed later.
func (o *Objects) Run(ctx context.Context) {
	o.informers.Want([]informer.Key{keyOf(spec.KindClusterRuleSet), keyOf(spec.KindRuleSet)}, nil, false)
	<-ctx.Done()
	o.informers.Stop()
}

// Changed has a value when sets may have come, gone or changed, when they have been
// listed for the first time, and when they cannot be watched any more. Many changes may
// be one value.
//
// A change of what the status tells users does not count: our own writes cause no
// work. What the inventory keeps in the status does: who writes there next has to
// know the version.
func (o *Objects) Changed() <-chan struct{} { return o.changed }

// Synced reports whether both kinds have been listed: only then a missing set does not
// exist. It stays true while they cannot be watched.
func (o *Objects) Synced() bool {
	states := o.informers.Status()
	return len(states) == len(kinds()) && !slices.ContainsFunc(states, func(s informer.Status) bool { return !s.Synced })
}

// Trouble is why the objects cannot be listed or watched now, and what to do about it;
// nil where they can.
func (o *Objects) Trouble() error {
	var errs []error
	for _, state := range o.informers.Status() {
		if state.Err != nil {
			errs = append(errs, advised(state.Key, state.Err))
		}
	}
	return errors.Join(errs...)
}

// advised adds to an error what to do about it.
func advised(key informer.Key, err error) error {
	resource := plan.ResourceName(key.GVR)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the API server has no %s: the CRDs are not installed (deploy/crds): %w", resource, err)
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return fmt.Errorf("dyncontroller may not list and watch %s in all namespaces: "+
			"grant it these rights, or run without --rules-from-cluster: %w", resource, err)
	default:
		return fmt.Errorf("cannot list or watch %s: %w", resource, err)
	}
}

// List returns the objects that have been seen so far, sorted by kind, namespace and
// name. It parses only objects that the last List has not parsed.
func (o *Objects) List() []Object {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []Object
	before := o.read
	o.read = make(map[*compact.Object]Object, len(before))
	for _, kind := range kinds() {
		key := keyOf(kind)
		for _, name := range o.informers.Names(key) {
			found := o.informers.View(key, name.Namespace, name.Name).Object
			if found == nil {
				continue
			}
			one, known := before[found] // The caches never change an object, they replace it.
			if !known {
				one = objectOf(kind, &unstructured.Unstructured{Object: found.Fields()})
			}
			o.read[found] = one
			out = append(out, one)
		}
	}
	return inOrder(out)
}

// List reads the objects that a client shows, sorted by kind, namespace and name: all of them, or with a namespace its RuleSets.
func List(ctx context.Context, client dynamic.Interface, namespace string) ([]Object, error) {
	var out []Object
	for _, kind := range kinds() {
		key := keyOf(kind)
		if namespace != "" && kind == spec.KindClusterRuleSet {
			continue
		}
		found, err := client.Resource(key.GVR).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, advised(key, err)
		}
		for i := range found.Items {
			out = append(out, objectOf(kind, &found.Items[i]))
		}
	}
	return inOrder(out), nil
}

func inOrder(all []Object) []Object {
	slices.SortFunc(all, func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// kinds are those of the objects.
func kinds() []string { return []string{spec.KindClusterRuleSet, spec.KindRuleSet} }

func keyOf(kind string) informer.Key { return informer.Key{GVR: v1alpha1.ResourceOf(kind)} }

// handler receives the events of the informers.
type handler struct{ *Objects }

// Changed implements [informer.Handler].
func (h handler) Changed(event informer.Event) {
	h.forget(event.Key)
	if event.Before == nil || event.After == nil || !reflect.DeepEqual(withoutStatus(event.Before.Fields()), withoutStatus(event.After.Fields())) {
		h.notify()
	}
}

// Widened implements [informer.Handler]. These caches keep whole objects.
func (h handler) Widened(informer.Key) {}

// withoutStatus returns an object without what its status tells users, and without the metadata that every write changes.
// A change of the spec shows in the generation.
func withoutStatus(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	delete(metadata, "resourceVersion")
	delete(metadata, "managedFields")
	status, _ := object["status"].(map[string]any)
	kept := map[string]any{}
	maps.Copy(kept, status)
	for _, told := range []string{"observedGeneration", "conditions", "summary", "rules"} {
		delete(kept, told)
	}
	return map[string]any{"metadata": metadata, "status": kept}
}

// Synced implements [informer.Handler].
func (h handler) Synced(key informer.Key) {
	h.forget(key)
	h.notify()
}

// Troubled implements [informer.Handler].
func (h handler) Troubled(key informer.Key, err error) {
	err = advised(key, err)
	h.mu.Lock()
	known := h.logged[key] == err.Error()
	h.logged[key] = err.Error()
	h.mu.Unlock()
	if !known {
		h.log.Error("cannot read the rule sets in the cluster", "gvr", plan.ResourceName(key.GVR), "err", err)
		h.notify()
	}
}

// forget has the next error logged again.
func (h handler) forget(key informer.Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.logged, key)
}

// notify never blocks.
func (h handler) notify() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// Key names a set object. It is comparable.
type Key struct {
	Kind      string // RuleSet or ClusterRuleSet
	Namespace string // empty for a ClusterRuleSet
	Name      string
}

// String is how messages name the set, such as "RuleSet shop/guard".
func (k Key) String() string {
	return plan.Rule{Kind: k.Kind, Namespace: k.Namespace, Set: k.Name}.SetName()
}

// Object is a set object as the cluster has it.
type Object struct {
	Key
	UID             types.UID
	ResourceVersion string
	Generation      int64
	Created         time.Time
	// Deleting means that it has a deletionTimestamp, Finalizer that it has our finalizer.
	Deleting, Finalizer bool
	// Status is empty where it cannot be read.
	Status v1alpha1.Status
	// Annotations are shared: read only.
	Annotations map[string]string
	// LostNull is where the author wrote a null that the object does not have, such as
	// "spec.rules[0].when"; empty for nowhere.
	LostNull string
	// Account is who reads and writes, empty where it does not say so.
	Account types.NamespacedName
	// Document is the object, to be compiled as a file is. It has nothing but
	// apiVersion, kind, name, namespace and spec, and is the same for the same of these,
	// byte for byte. The name of the file is that of the set, "RuleSet shop/guard".
	// Nobody has seen its lines, so a mistake is shown by its path.
	Document document.File
	// Resources are those that it names, each once. They are shared: read only.
	Resources []apischema.GroupVersionResource
}

// ParseObject reads what a controller says is a version of a set object: its document.
func ParseObject(key Key, data []byte) (Object, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		return Object{}, fmt.Errorf("reading %s: %w", key, err)
	}
	if got := (Key{u.GetKind(), u.GetNamespace(), u.GetName()}); got != key {
		return Object{}, fmt.Errorf("reading %s: it is %s", key, got)
	}
	return objectOf(key.Kind, u), nil
}

// objectOf reads an object. It keeps nothing of it that may be changed.
func objectOf(kind string, u *unstructured.Unstructured) Object {
	key := Key{Kind: kind, Namespace: u.GetNamespace(), Name: u.GetName()}
	file := DocumentOf(key, u.Object)
	sets, _ := spec.Parse([]document.File{file}, key.Namespace)
	out := Object{
		Key: key, UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(), Generation: u.GetGeneration(), Created: u.GetCreationTimestamp().UTC(),
		Deleting:  u.GetDeletionTimestamp() != nil,
		Finalizer: slices.Contains(u.GetFinalizers(), v1alpha1.Finalizer),
		Status:    v1alpha1.StatusOf(u), Annotations: u.GetAnnotations(), LostNull: lostNull(u),
		Document: file, Resources: appendResources(nil, sets),
	}
	for _, set := range sets {
		out.Account = set.Identity
	}
	return out
}

// Suspending returns the object with all suspended that another version of it suspends: the set, or rules by their names.
func (o Object) Suspending(by Object) Object {
	set, other := specOf(o.Document), specOf(by.Document)
	if whole, _ := other["suspend"].(bool); whole && set != nil {
		set["suspend"] = true
	}
	suspended := map[string]bool{}
	for _, rule := range rulesOf(other) {
		if stops, _ := rule["suspend"].(bool); stops {
			name, _ := rule["name"].(string)
			suspended[name] = true
		}
	}
	for _, rule := range rulesOf(set) {
		if name, _ := rule["name"].(string); suspended[name] {
			rule["suspend"] = true
		}
	}
	o.Document = DocumentOf(o.Key, map[string]any{"spec": set})
	return o
}

// specOf is what a document of an object says, nothing where that is no spec.
func specOf(file document.File) map[string]any {
	object := map[string]any{}
	_ = utiljson.Unmarshal(file.Data, &object)
	spec, _ := object["spec"].(map[string]any)
	return spec
}

func rulesOf(spec map[string]any) (out []map[string]any) {
	rules, _ := spec["rules"].([]any)
	for _, one := range rules {
		if rule, ok := one.(map[string]any); ok {
			out = append(out, rule)
		}
	}
	return out
}

// lostNull returns where a null was lost on its way into the cluster, such as
// "spec.rules[0].when", and empty for nowhere. A client-side apply sends a patch, which
// cannot set a field to null, and the API server drops a null that the schema does not
// allow. A file with an empty condition is refused. In an object the condition would be gone, and
// the rule would match everything.
//
// The annotation of kubectl has what was applied. It only counts where it is
// equal to the object but for nulls. Otherwise somebody has changed the object since by other
// means.
func lostNull(u *unstructured.Unstructured) string {
	text := u.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
	var applied map[string]any
	if !strings.Contains(text, "null") || utiljson.Unmarshal([]byte(text), &applied) != nil {
		return ""
	}
	spec := func(of map[string]any) any { return map[string]any{"spec": of["spec"]} }
	if lost, only := compare.LostNulls(spec(applied), spec(u.Object)); only && len(lost) > 0 {
		return lost[0]
	}
	return ""
}

// maxDocument is more than the parser accepts, in bytes.
const maxDocument = 1 << 20

// DocumentOf returns the document of a set object. The object is compiled as
// if it had been written to a file, as JSON, with a line for each value: so numbers keep
// their types, and no string reads as another type.
func DocumentOf(key Key, object map[string]any) document.File {
	metadata := map[string]any{"name": key.Name}
	if key.Namespace != "" {
		metadata["namespace"] = key.Namespace
	}
	fields := map[string]any{"apiVersion": spec.APIVersion, "kind": key.Kind, "metadata": metadata}
	if value, there := object["spec"]; there {
		fields["spec"] = pointed(value)
	}
	data, _ := json.Marshal(fields) // It fails only for what JSON does not have, such as infinity. An empty document is refused.
	var out bytes.Buffer
	_ = json.Indent(&out, data, "", "")
	text := out.Bytes()
	return document.File{Name: key.String(), Data: compare.EscapeInvisible(string(text[:min(len(text), maxDocument)])), Unseen: true}
}

// pointed writes the floats of a value with a point: without one it would be an integer, or a text to some readers of YAML.
func pointed(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, below := range v {
			out[key] = pointed(below)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, below := range v {
			out[i] = pointed(below)
		}
		return out
	case float64:
		mantissa, exponent, scientific := strings.Cut(strconv.FormatFloat(v, 'g', -1, 64), "e")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		if scientific {
			mantissa += "e" + exponent
		}
		return json.Number(mantissa)
	default:
		return value
	}
}
