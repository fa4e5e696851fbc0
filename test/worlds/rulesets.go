package worlds

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// The rules of a world are in a file that all replicas have, or in set objects in the cluster, each of which acts as one of two ServiceAccounts.

var serviceaccounts = apischema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}

// ruleSets are the set objects of the text of a rule file.
func (w *World) ruleSets(text string) (out []*unstructured.Unstructured, err error) {
	for part := range strings.SplitSeq(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		data, err := yaml.YAMLToJSON([]byte(part))
		if err == nil {
			err = object.UnmarshalJSON(data)
		}
		if err != nil {
			return nil, fmt.Errorf("reading rules: %w", err)
		}
		spec, _ := object.Object["spec"].(map[string]any)
		spec["serviceAccountName"] = cmp.Or(w.accounts[object.GetName()], accounts[0])
		if object.GetKind() == "ClusterRuleSet" {
			spec["serviceAccountNamespace"] = "shop"
		}
		out = append(out, object)
	}
	return out, nil
}

// setsLike are the set objects of the kind of one.
func (w *World) setsLike(one *unstructured.Unstructured) dynamic.ResourceInterface {
	if one.GetKind() == "RuleSet" {
		return w.user.Resource(v1alpha1.RuleSets()).Namespace("shop")
	}
	return w.user.Resource(v1alpha1.ClusterRuleSets())
}

var accounts = []string{"bot", "other"}

// setOf is the name of the set object of which a write is, empty where that cannot be told.
func (w *World) setOf(r *request) string {
	if w.workload.setOf != nil {
		return w.workload.setOf(r)
	}
	all, _ := w.ruleSets(w.workload.texts[0]) // It has been read before.
	return all[0].GetName()
}

// move has users have a set act as one of the accounts, by lot.
func (w *World) move(ctx context.Context, number int) error {
	if !w.inCluster {
		return nil
	}
	all, err := w.ruleSets(w.workload.texts[w.published])
	if err != nil {
		return err
	}
	set, account := all[number/len(accounts)%len(all)].GetName(), accounts[number%len(accounts)]
	w.accounts[set] = account
	w.history.note(user, moved, set+"/"+account)
	return w.publish(ctx, w.published)
}

// publish has users put the rules of a number into the cluster.
func (w *World) publish(ctx context.Context, number int) error {
	all, err := w.ruleSets(w.workload.texts[number])
	if err != nil {
		return err
	}
	for _, name := range accounts {
		account := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": name}}}
		_, err := w.user.Resource(serviceaccounts).Namespace("shop").Create(ctx, account, metav1.CreateOptions{FieldManager: "user"})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err //nolint:wrapcheck // See merge.
		}
	}
	for _, object := range all {
		sets := w.setsLike(object)
		before, err := sets.Get(ctx, object.GetName(), metav1.GetOptions{})
		if err == nil {
			before.Object["spec"] = object.Object["spec"]
			before.SetAnnotations(object.GetAnnotations())
			_, err = sets.Update(ctx, before, metav1.UpdateOptions{FieldManager: "user"})
		} else {
			_, err = sets.Create(ctx, object, metav1.CreateOptions{FieldManager: "user"})
		}
		if err != nil {
			return err //nolint:wrapcheck // See merge.
		}
	}
	return nil
}

// toSets reports whether the request is to set objects, or their status.
func (r *request) toSets() bool { return strings.Contains(r.path, "/apis/"+v1alpha1.Group+"/") }

// setObject is the name of the set object that the request writes, or its status, empty for none.
func (r *request) setObject() string {
	_, name, is := strings.Cut(r.path, "rulesets")
	if !is || !r.toSets() {
		return ""
	}
	return cmp.Or(strings.TrimSuffix(strings.TrimPrefix(name, "/"), "/status"), r.written.Metadata.Name)
}

// news is which processes have heard that a set object was changed. Rules in a file they are given at once. A set object comes by a watch, which
// may be late: those that ran by then have heard of it when they say so in its status.
type news struct {
	began map[string]time.Time // by process
	sets  map[string]*changes  // by the name of the set object
}

// changes is the last change of a set object.
type changes struct {
	generation int64
	at         time.Time
	heard      map[string]time.Time // by process
}

func newNews() *news { return &news{map[string]time.Time{}, map[string]*changes{}} }

// note goes on to the next request of a history.
func (n *news) note(r *request) {
	if n.began[r.as].IsZero() {
		n.began[r.as] = r.at
	}
	name := r.setObject()
	if name == "" || !r.stored() {
		return
	}
	last := n.sets[name]
	switch {
	case r.as == user && (last == nil || r.written.Metadata.Generation > last.generation):
		n.sets[name] = &changes{r.written.Metadata.Generation, r.at, map[string]time.Time{}}
	case r.as == user || last == nil:
	case last.heard[r.as].IsZero() && r.written.Status.ObservedGeneration == last.generation:
		last.heard[r.as] = r.at
	}
}

// late reports whether a request may be by a set object as it was before.
func (n *news) late(r *request) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(n.sets)), func(set string) bool { return n.lateOf(set, r) })
}

func (n *news) lateOf(set string, r *request) bool {
	last := n.sets[set]
	return last != nil && last.generation > 1 && n.began[r.as].Before(last.at) && r.sent.Sub(last.at) < latestNews &&
		(last.heard[r.as].IsZero() || r.sent.Sub(last.heard[r.as]) < longestAttempt)
}

// latestNews is how late a process may hear of a set object: a connection may carry nothing for three minutes, and a watch that has stalled is
// given up after two, more than once.
const latestNews = 10 * time.Minute

// oneAccount holds that a set object that is moved to another account does nothing as the one before, once it has done something as the new one;
// and that nothing is written where users work with the rights of the process, but Events about the set objects.
func (o *oracle) oneAccount(setOf func(*request) string) {
	type state struct {
		account string
		began   bool
	}
	sets, heard := map[string]*state{}, newNews()
	for _, r := range o.all {
		heard.note(r)
		if r.method == moved {
			name, account, _ := strings.Cut(r.path, "/")
			if is := sets[name]; is == nil || is.account != account {
				sets[name] = &state{account: account}
			}
			continue
		}
		if r.as == user || !r.stored() || r.toSets() || !strings.Contains(r.path, "/namespaces/shop/") || resourceOf(r.path) == "events" {
			continue
		}
		if r.account == "" {
			o.accuse("written with the rights of the process: %s", r)
			continue
		}
		name := setOf(r)
		if name == "" {
			continue
		}
		is := sets[name]
		if is == nil {
			is = &state{account: accounts[0]}
			sets[name] = is
		}
		switch {
		case heard.lateOf(name, r): // It may not know where the set is.
		case r.account == is.account:
			is.began = true
		case is.began:
			o.accuse("done as %s, and the set had acted as %s: %s", r.account, is.account, r)
		}
	}
}

// known are the schemas that replicas compile set objects by.
type known struct{ *schema.Catalog }

func newKnown() known { return known{schema.NewCatalog(builtin.Source())} }

// Ask implements [source.Schemas].
func (k known) Ask(context.Context, []apischema.GroupVersionResource) (*schema.Catalog, bool) {
	return k.Catalog, false
}

// Changed implements [source.Schemas]: never.
func (k known) Changed() <-chan struct{} { return nil }
