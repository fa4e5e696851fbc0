package tenants

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// blue is a ConfigMap that the set guard labels.
const blue = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, namespace: NAMESPACE}\ndata: {color: COLOR}\n"

// TestSetLifeStatus follows a set from its first version through two that are refused to
// one that is right again: its status says at each step what is in effect.
func TestSetLifeStatus(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		account(t, cluster(t), namespace, "bot", editor)
		start(t, cluster(t))
		apply(t, cluster(t), namespace, guard)
		ready(t, cluster(t), ruleSets, namespace, "guard")
		columns(t, namespace, "NAME READY REASON RULES MATCHED ERRORS AGE", "guard True Running 1 0 0")

		apply(t, cluster(t), namespace, strings.NewReplacer(`object.data?.color == "blue"`, `objekt.data?.color == "blue"`).Replace(guard))
		message := refused(t, namespace)
		for _, part := range []string{"spec.rules[0].when", "objekt", "did you mean", "object", "the version before stays in effect"} {
			if !strings.Contains(message, part) {
				t.Errorf("the message lacks %q: %s", part, message)
			}
		}
		columns(t, namespace, "NAME READY REASON RULES MATCHED ERRORS AGE", "guard False Refused 1 0 0")
		labelled(t, namespace, "while-refused", "blue")

		apply(t, cluster(t), namespace, strings.Replace(guard, `"${object.data.color}"`, `"${object.data.color + 1}"`, 1))
		if message := refused(t, namespace); !strings.Contains(message, "spec.rules[0].actions[0].patch.merge.metadata.labels.color") {
			t.Errorf("it does not say where: %s", message)
		}

		apply(t, cluster(t), namespace, strings.ReplaceAll(guard, "blue", "green"))
		ready(t, cluster(t), ruleSets, namespace, "guard")
		observed(t, namespace, "guard")
		if status, _, _ := condition(t, cluster(t), ruleSets, namespace, "guard", "Stalled"); status != "" {
			t.Errorf("a set that is right again is Stalled=%s", status)
		}
		labelled(t, namespace, "corrected", "green")
		quiet(t, namespace)
	})
}

// columns holds what kubectl get shows of the set guard: the columns that the API server makes for it.
func columns(t *testing.T, namespace, head, line string) {
	t.Helper()
	config := cluster(t).RESTConfig()
	config.AcceptContentTypes = "application/json;as=Table;v=v1;g=meta.k8s.io"
	config.GroupVersion, config.NegotiatedSerializer, config.APIPath = new(ruleSets.GroupVersion()), scheme.Codecs.WithoutConversion(), "/apis"
	c, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := c.Get().Namespace(namespace).Resource(ruleSets.Resource).Do(t.Context()).Into(&table); err != nil {
		t.Fatal(err)
	}
	var names, cells []string
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			names, cells = append(names, strings.ToUpper(column.Name)), append(cells, fmt.Sprint(table.Rows[0].Cells[i]))
		}
	}
	if got := strings.Join(names, " "); got != head {
		t.Errorf("the columns are %q, want %q", got, head)
	}
	if got := strings.Join(cells, " "); !strings.HasPrefix(got, line) {
		t.Errorf("it shows %q, want %q", got, line)
	}
}

// refused waits until the set guard is, and returns what its status says.
func refused(t *testing.T, namespace string) string {
	t.Helper()
	var message string
	eventually(t, "the set is refused", func() bool {
		var status, reason string
		status, reason, message = condition(t, cluster(t), ruleSets, namespace, "guard", "Ready")
		return status == "False" && reason == "Refused"
	})
	status, reason, stalled := condition(t, cluster(t), ruleSets, namespace, "guard", "Stalled")
	if status != "True" || reason != "Refused" || stalled != message {
		t.Errorf("Stalled=%s %s: %s\nwant what Ready says: %s", status, reason, stalled, message)
	}
	observed(t, namespace, "guard")
	return message
}

// observed holds that the status is about the newest version.
func observed(t *testing.T, namespace, name string) {
	t.Helper()
	set := get(t, cluster(t), ruleSets, namespace, name)
	if got := field(set, "status", "observedGeneration"); got != set.GetGeneration() {
		t.Errorf("observedGeneration is %v of %d", got, set.GetGeneration())
	}
}

// labelled makes a ConfigMap, and waits until the set guard has labelled it.
func labelled(t *testing.T, namespace, name, color string) {
	t.Helper()
	apply(t, cluster(t), namespace, strings.NewReplacer("NAME,", name+",", "COLOR", color).Replace(blue))
	eventually(t, "the label of "+name, func() bool {
		return field(get(t, cluster(t), configmaps, namespace, name), "metadata", "labels", "color") == color
	})
}

// quiet holds that for half a minute nothing is written in a namespace where nothing
// happens, once what has happened is told. Counters are told ten seconds late.
func quiet(t *testing.T, namespace string) {
	t.Helper()
	const calm = 30 * time.Second
	since := time.Now()
	var last []string
	within(t, 2*time.Minute, "the cluster is quiet", func() bool {
		if time.Since(since) < calm {
			return false
		}
		last = last[:0]
		for _, r := range requests(t, since) {
			if r.ObjectRef.Namespace == namespace && r.writes() {
				last = append(last, fmt.Sprintf("%s %s by %s: %d", r.Verb, r.RequestURI, r.UserAgent, r.ResponseStatus.Code))
			}
		}
		if len(last) > 0 {
			since = time.Now()
		}
		return len(last) == 0
	})
}

// keeper is a set that leaves all that a set can leave: a finalizer, a child, and fields
// that stay or go when the rule does.
const keeper = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: keeper, namespace: NAMESPACE}
spec:
  serviceAccountName: bot
  resources:
    sources: {version: v1, resource: configmaps, labelSelector: role=source}
    children: {version: v1, resource: configmaps, labelSelector: role=child}
  rules:
  - name: hold
    watch: sources
    onDelete:
      actions:
      - when: object.data?.free != "yes"
        event: {reason: Held, message: "it is not free"}
      done: object.data?.free == "yes"
  - name: child
    watch: sources
    actions:
    - apply:
        resource: children
        manifest: {metadata: {name: "${object.metadata.name}-child", labels: {role: child}}, data: {of: "${object.metadata.name}"}}
        prune: true
  - name: stays
    watch: sources
    actions:
    - patch: {apply: {data: {stays: "1"}}, release: Orphan}
  - name: goes
    watch: sources
    actions:
    - patch: {apply: {data: {goes: "1"}}, release: Remove}
`

const source = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, namespace: NAMESPACE, labels: {role: source}}\ndata: {own: x}\n"

// holder is how the finalizer of the rule hold begins.
const holder = "dyncontroller.dev/keeper.hold-"

// janitor may do all that the set keeper needs.
var janitor = []string{
	editor, `{apiGroups: [""], resources: [configmaps/finalizers], verbs: [update]}`,
	`{apiGroups: [events.k8s.io], resources: [events], verbs: [create, get, update]}`,
}

// keep puts the set keeper to work, and waits until it has left all it can leave.
func keep(t *testing.T, on virtual.Cluster, namespace string) {
	t.Helper()
	account(t, on, namespace, "bot", janitor...)
	apply(t, on, namespace, strings.Replace(source, "NAME,", "a,", 1))
	apply(t, on, namespace, keeper)
	ready(t, on, ruleSets, namespace, "keeper")
	eventually(t, "the set has left all", func() bool { return traces(t, on, namespace) == allTraces })
	set := get(t, on, ruleSets, namespace, "keeper")
	if f := set.GetFinalizers(); len(f) != 1 || f[0] != v1alpha1.Finalizer {
		t.Errorf("the finalizers of the set are %q", f)
	}
	if got := inventoried(set); got != "child:children:bot goes:fields:bot hold:finalizer:bot stays:fields:bot" {
		t.Errorf("the inventory is %q", got)
	}
}

// allTraces is what the set keeper leaves.
const allTraces = "finalizer child stays goes owner"

// traces says what there is of the set keeper in a namespace.
func traces(t *testing.T, on virtual.Cluster, namespace string) string {
	t.Helper()
	a := get(t, on, configmaps, namespace, "a")
	if a == nil {
		return "no source"
	}
	var out []string
	add := func(is bool, what string) {
		if is {
			out = append(out, what)
		}
	}
	finalizers := a.GetFinalizers()
	add(len(finalizers) == 1 && strings.HasPrefix(finalizers[0], holder), "finalizer")
	add(get(t, on, configmaps, namespace, "a-child") != nil, "child")
	add(field(a, "data", "stays") == "1", "stays")
	add(field(a, "data", "goes") == "1", "goes")
	add(owned(a), "owner")
	add(field(a, "data", "own") != "x", "lost what is another's")
	return strings.Join(out, " ")
}

// owned reports whether rules own fields of an object by server-side apply.
func owned(object *unstructured.Unstructured) bool {
	for _, entry := range object.GetManagedFields() {
		if entry.Operation == "Apply" && strings.HasPrefix(entry.Manager, "dyncontroller") {
			return true
		}
	}
	return false
}

// inventoried is what the status of a set says that is left, in its order.
func inventoried(set *unstructured.Unstructured) string {
	list, _ := field(set, "status", "inventory").([]any)
	var out []string
	for _, element := range list {
		fields, _ := element.(map[string]any)
		out = append(out, fmt.Sprintf("%v:%v:%v", fields["rule"], fields["kind"], fields["serviceAccount"]))
	}
	return strings.Join(out, " ")
}
