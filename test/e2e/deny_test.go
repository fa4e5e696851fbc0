package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// offspring has a child for each parent, and marks services, of which it may see others
// than of the parents.
const offspring = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: offspring, namespace: NAMESPACE}
spec:
  resources:
    parents: {version: v1, resource: configmaps, labelSelector: role=parent}
    children: {version: v1, resource: configmaps, labelSelector: role=child}
    services: {version: v1, resource: services}
  rules:
  - name: child
    watch: parents
    actions:
    - apply: {resource: children, owned: false, prune: true, manifest: {metadata: {name: "${object.metadata.name}-child", labels: {role: child}}}}
  - name: mark
    watch: services
    actions: [{patch: {merge: {metadata: {labels: {seen: "yes"}}}}}]
`

// actingAs is an engine that does all as somebody, with its informers.
func actingAs(t *testing.T, config *rest.Config) (e *engine.Engine, informers *informer.Set) {
	t.Helper()
	watching, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	reader, errReader := live.NewReader(config)
	writer, errWriter := write.NewClient(config)
	recorder, errRecorder := write.NewRecorder(config, "test", clock.RealClock{})
	if err := errors.Join(errReader, errWriter, errRecorder); err != nil {
		t.Fatal(err)
	}
	e = engine.New(engine.Options{
		Live: reader, Writer: writer, Recorder: recorder,
		Caches: func(handler informer.Handler) engine.Caches {
			informers = informer.NewSet(watching, handler, slog.New(slog.DiscardHandler), informer.Options{})
			return informers
		},
	})
	return e, informers
}

// TestDeny takes a permission away and gives it back: what the ServiceAccount may not
// list is not shown any more, other rules go on, nothing is taken for gone, and what has
// happened meanwhile is seen afterwards. The engine stands by at first.
func TestDeny(t *testing.T) {
	virtually(t, func(t *testing.T) {
		estate := newEstate(t)
		account := estate.account(t, "bot")
		verbs := []string{"get", "list", "watch", "create", "patch", "delete"}
		others := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: verbs}
		all := []rbacv1.PolicyRule{others, {APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: verbs}}
		estate.grant(t, "bot", all...)
		set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(strings.ReplaceAll(offspring, "NAMESPACE", estate.namespace))}},
			rules.Options{Schemas: schema.NewCatalog(builtin.Source())})
		if errs.Of(document.Mistake) != nil {
			t.Fatal(errs.Render())
		}
		parent := func(name string) {
			create(t, configmaps, estate.namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {role: parent}}}`, name))
		}
		service := func(name string) {
			create(t, services, estate.namespace, fmt.Sprintf(`{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {ports: [{port: 1}]}}`, name))
			eventually(t, "the rule marks "+name, func() bool { return get(t, services, estate.namespace, name).GetLabels()["seen"] == "yes" })
		}
		child := func(name string) bool { return exists(t, configmaps, estate.namespace, name+"-child") }

		e, informers := actingAs(t, impersonating(t, "system:serviceaccount:"+account.Namespace+":"+account.Name))
		e.SetRules(set)
		parent("first")
		eventually(t, "the caches are warm", func() bool {
			for _, status := range informers.Status() {
				if !status.Synced {
					return false
				}
			}
			return true
		})
		if child("first") {
			t.Error("an engine that stands by has written")
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { e.Run(ctx) })
		defer running.Wait()
		defer cancel()
		eventually(t, "it works off what it has seen", func() bool { return child("first") })

		estate.grant(t, "bot", others)
		denied := map[informer.Key]error{}
		for _, status := range informers.Status() {
			if status.Key.GVR == configmaps {
				denied[status.Key] = apierrors.NewForbidden(configmaps.GroupResource(), "", errors.New("may not list"))
			}
		}
		if e.Deny(denied); len(denied) != 2 {
			t.Fatalf("denying %v", denied)
		}
		for _, status := range informers.Status() {
			if _, is := denied[status.Key]; is && (status.Synced || !apierrors.IsForbidden(status.Err) || len(informers.Names(status.Key)) > 0) {
				t.Errorf("what is denied shows %v, and the status is %+v", informers.Names(status.Key), status)
			}
		}
		deleteObject(t, configmaps, estate.namespace, "first")
		parent("second")
		service("meanwhile")
		if !child("first") || child("second") {
			t.Errorf("a rule acted on what it may not see: there are %v", names(t, configmaps, estate.namespace, "role=child"))
		}

		estate.grant(t, "bot", all...)
		e.Deny(nil)
		eventually(t, "it sees what has happened meanwhile", func() bool { return child("second") && !child("first") })
		service("afterwards")
	})
}
