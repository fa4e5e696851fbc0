package worlds

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// The rules of a world are in a file that all replicas have, or a set object in the cluster, which acts as one of two ServiceAccounts.

var serviceaccounts = apischema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}

// ruleSet is the set object of the text of a rule file, and where it is.
func (w *World) ruleSet(text string) (*unstructured.Unstructured, dynamic.ResourceInterface, error) {
	object := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = object.UnmarshalJSON(data)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading rules: %w", err)
	}
	spec, _ := object.Object["spec"].(map[string]any)
	spec["serviceAccountName"] = w.account
	if object.GetKind() == "RuleSet" {
		return object, w.user.Resource(v1alpha1.RuleSets()).Namespace("shop"), nil
	}
	spec["serviceAccountNamespace"] = "shop"
	return object, w.user.Resource(v1alpha1.ClusterRuleSets()), nil
}

var accounts = []string{"bot", "other"}

// move has users have the rules act as one of the accounts.
func (w *World) move(ctx context.Context, number int) error {
	if !w.inCluster {
		return nil
	}
	w.account = accounts[number%len(accounts)]
	w.history.note(user, moved, w.account)
	return w.publish(ctx, w.published)
}

// publish has users put the rules of a number into the cluster.
func (w *World) publish(ctx context.Context, number int) error {
	object, sets, err := w.ruleSet(w.workload.texts[number])
	if err != nil {
		return err
	}
	before, err := sets.Get(ctx, object.GetName(), metav1.GetOptions{})
	if err == nil {
		before.Object["spec"] = object.Object["spec"]
		before.SetAnnotations(object.GetAnnotations())
		_, err = sets.Update(ctx, before, metav1.UpdateOptions{FieldManager: "user"})
		return err //nolint:wrapcheck // See merge.
	}
	for _, name := range accounts {
		account := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": name}}}
		if _, err := w.user.Resource(serviceaccounts).Namespace("shop").Create(ctx, account, metav1.CreateOptions{FieldManager: "user"}); err != nil {
			return err //nolint:wrapcheck // See merge.
		}
	}
	_, err = sets.Create(ctx, object, metav1.CreateOptions{FieldManager: "user"})
	return err //nolint:wrapcheck // See merge.
}

// toSets reports whether the request is to set objects, or their status.
func (r *request) toSets() bool { return strings.Contains(r.path, "/apis/"+v1alpha1.Group+"/") }

// news is which processes have heard that a set object was changed. Rules in a file they are given at once. A set object comes by a watch, which
// may be late: those that ran by then have heard of it when they say so in its status.
type news struct {
	generation int64 // of the set object
	changed    time.Time
	began      map[string]time.Time // by process
	heard      map[string]time.Time // by process
}

// note goes on to the next request of a history.
func (n *news) note(r *request) {
	if n.began == nil {
		n.began = map[string]time.Time{}
	}
	if n.began[r.as].IsZero() {
		n.began[r.as] = r.at
	}
	switch {
	case !r.toSets() || !r.stored():
	case r.as == user && r.written.Metadata.Generation > n.generation:
		n.generation, n.changed, n.heard = r.written.Metadata.Generation, r.at, map[string]time.Time{}
	case r.as == user:
	case n.heard[r.as].IsZero() && r.written.Status.ObservedGeneration == n.generation:
		n.heard[r.as] = r.at
	}
}

// late reports whether a request may be by the set object as it was before.
func (n *news) late(r *request) bool {
	return n.generation > 1 && n.began[r.as].Before(n.changed) && r.sent.Sub(n.changed) < latestNews &&
		(n.heard[r.as].IsZero() || r.sent.Sub(n.heard[r.as]) < longestAttempt)
}

// latestNews is how late a process may hear of a set object: a connection may carry nothing for three minutes, and a watch that has stalled is
// given up after two, more than once.
const latestNews = 10 * time.Minute

// oneAccount holds that a set object that is moved to another account does nothing as the one before, once it has done something as the new one.
func (o *oracle) oneAccount() {
	now, began, heard := accounts[0], false, news{}
	for _, r := range o.all {
		heard.note(r)
		switch as := r.account; {
		case r.method == moved:
			began, now = began && now == r.path, r.path
		case heard.late(r): // It may not know where the set is.
		case as == "" || !r.stored():
		case as == now:
			began = true
		case began:
			o.accuse("done as %s, and the set had acted as %s: %s", as, now, r)
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
