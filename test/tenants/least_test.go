package tenants

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// least is a set that has exactly the rights that rbac prints for it.
type least struct {
	document string // in which NAMESPACE is that of its account, and of its objects
	kind     schema.GroupVersionResource
	name     string
	work     func(t *testing.T, namespace string) // lets it do all that it does
	left     func(t *testing.T, namespace string) string
	spare    map[string]string // rights that may not be used while it works, and why they are needed
}

// TestLeast holds that the rights that rbac prints are enough for a set to do all of its
// work and to clean up after itself, and that none of them can be left out.
func TestLeast(t *testing.T) {
	alongside(t)
	startLooking(t, cluster(t), often)
	// The sets do not disturb each other, and share the process: the subtests end before it.
	t.Run("sets", func(t *testing.T) {
		for name, one := range leasts(t) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				namespace := cluster(t).Namespace(t)
				one.about(namespace).try(t, namespace)
			})
		}
	})
}

// about is the same of a namespace.
func (l least) about(namespace string) least {
	out := l
	out.document = strings.ReplaceAll(l.document, "NAMESPACE", namespace)
	return out
}

func (l least) try(t *testing.T, namespace string) {
	printed := l.printed(t)
	apply(t, cluster(t), namespace, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: bot, namespace: NAMESPACE}\n")
	printed.grant(t, namespace, printed.sample()[0])
	apply(t, cluster(t), namespace, l.document)
	gone := false
	t.Cleanup(func() {
		if !gone {
			l.discard(t, namespace)
		}
	})
	for _, at := range printed.sample() {
		printed.grant(t, namespace, at)
		l.lacks(t, namespace, printed.rules()[at])
	}
	printed.grant(t, namespace, -1)
	l.lacks(t, namespace)

	since := time.Now()
	l.work(t, namespace)
	l.delete(t, namespace)
	gone = true
	if got := l.left(t, namespace); got != "" {
		t.Errorf("when the set is gone there is still %s", got)
	}
	l.audit(t, since, "system:serviceaccount:"+namespace+":bot", printed)
}

// audit holds that nothing was refused since a moment, and that all rights were used.
func (l least) audit(t *testing.T, since time.Time, user string, printed rights) {
	t.Helper()
	used := map[string]bool{}
	for _, r := range by(t, time.Time{}, user) {
		if r.ResponseStatus.Code == http.StatusForbidden {
			if r.RequestReceivedTimestamp.Time.Before(since) {
				continue // It was taken away then.
			}
			if in := r.ObjectRef.Namespace; in != "" {
				if of := get(t, cluster(t), namespaces, "", in); of == nil || of.GetDeletionTimestamp() != nil {
					continue // Of a test that is over: nothing can be made in a namespace that goes.
				}
			}
			t.Errorf("%s %s was refused", r.Verb, r.RequestURI)
		}
		used[right(r.Verb, r.ObjectRef.APIGroup, strings.TrimSuffix(r.ObjectRef.Resource+"/"+r.ObjectRef.Subresource, "/"))] = true
	}
	for _, rule := range printed.rules() {
		for one := range rightsOf(rule) {
			if !used[one] && l.spare[one] == "" {
				t.Errorf("the right to %s was never used", one)
			}
		}
	}
}

// right names a right whatever it is bound to.
func right(verb, group, resource string) string {
	return strings.TrimSuffix(verb+" "+resource+"."+group, ".")
}

func rightsOf(rule rbacv1.PolicyRule) map[string]bool {
	out := map[string]bool{}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				out[right(verb, group, resource)] = true
			}
		}
	}
	return out
}

// lacks waits until the status of the set says that the rights of the rule are missing
// and nothing else is; of no rule, that it is ready.
func (l least) lacks(t *testing.T, namespace string, rule ...rbacv1.PolicyRule) {
	t.Helper()
	want := map[string]bool{}
	wantStatus, wantReason := "True", "Running"
	for _, one := range rule {
		wantStatus, wantReason = "False", "Degraded"
		maps.Copy(want, rightsOf(one))
	}
	var said string
	defer func() {
		if t.Failed() {
			t.Logf("want %s %v, the set says %s", wantReason, slices.Sorted(maps.Keys(want)), said)
		}
	}()
	eventually(t, "the status says what is missing", func() bool {
		status, reason, message := condition(t, cluster(t), l.kind, l.in(namespace), l.name, "Ready")
		got := l.missing(t, namespace)
		said = status + " " + reason + ": " + message
		return status == wantStatus && reason == wantReason && maps.Equal(want, got)
	})
}

func (l least) in(namespace string) string {
	if l.kind == clusterRuleSets {
		return ""
	}
	return namespace
}

func (l least) missing(t *testing.T, namespace string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	all, _ := field(get(t, cluster(t), l.kind, l.in(namespace), l.name), "status", "rules").([]any)
	for _, element := range all {
		rule, _ := element.(map[string]any)
		lacks, _ := rule["missing"].([]any)
		for _, element := range lacks {
			of, _ := element.(map[string]any)
			verb, _ := of["verb"].(string)
			group, _ := of["group"].(string)
			resource, _ := of["resource"].(string)
			if subresource, _ := of["subresource"].(string); subresource != "" {
				resource += "/" + subresource
			}
			out[right(verb, group, resource)] = true
		}
	}
	return out
}

func (l least) delete(t *testing.T, namespace string) {
	t.Helper()
	arguments := []string{"delete", l.kind.GroupResource().String(), l.name, "--timeout=2m"}
	if in := l.in(namespace); in != "" {
		arguments = append(arguments, "-n", in)
	}
	kubectl(t, controlPlane(t), arguments...)
}

// discard drops the set of a test that failed, so that the others go on without it.
func (l least) discard(t *testing.T, namespace string) {
	ctx := context.WithoutCancel(t.Context())
	all := []string{l.kind.GroupResource().String(), l.name, "-n", namespace}
	for _, arguments := range [][]string{
		append([]string{"delete", "--wait=false", "--ignore-not-found"}, all...),
		append([]string{"patch", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`}, all...),
	} {
		if out, err := controlPlane(t).Kubectl(ctx, arguments...); err != nil {
			t.Logf("%s: %v", out, err)
		}
	}
}

// printed runs rbac.
func (l least) printed(t *testing.T) rights {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, []byte(l.document), 0o600); err != nil {
		t.Fatal(err)
	}
	module, err := controlplane.ModuleDir(t.Context(), controlplane.TidbOperator)
	if err != nil {
		t.Fatal(err)
	}
	rbac := command(t, "rbac", path, "--crds", filepath.Join(module, "manifests", "crd", "v1", "pingcap.com_tidbclusters.yaml"))
	var out, said bytes.Buffer
	rbac.Stdout, rbac.Stderr = &out, &said
	if err := rbac.Run(); err != nil || said.Len() > 0 {
		t.Fatalf("rbac: %v\n%s", err, &said)
	}
	if strings.Contains(out.String(), "*") {
		t.Errorf("there is a wildcard:\n%s", &out)
	}
	return parsedRights(t, out.String())
}
