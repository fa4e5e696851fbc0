package e2e

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// estate is a namespace with ServiceAccounts and their rights.
type estate struct {
	admin     kubernetes.Interface
	namespace string
}

func newEstate(t *testing.T) *estate {
	t.Helper()
	admin, err := kubernetes.NewForConfig(cluster(t).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return &estate{admin, cluster(t).Namespace(t)}
}

func (e *estate) account(t *testing.T, name string) types.NamespacedName {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := e.admin.CoreV1().ServiceAccounts(e.namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return types.NamespacedName{Namespace: e.namespace, Name: name}
}

func (e *estate) dismiss(t *testing.T, name string) {
	t.Helper()
	if err := e.admin.CoreV1().ServiceAccounts(e.namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// grant gives an account exactly these rights in its namespace.
func (e *estate) grant(t *testing.T, name string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	roles, meta := e.admin.RbacV1().Roles(e.namespace), metav1.ObjectMeta{Name: name}
	_, err := roles.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = roles.Update(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: e.namespace, Name: name}},
	}
	_, err = e.admin.RbacV1().RoleBindings(e.namespace).Create(t.Context(), binding, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// credentials are those of a process that runs as the account, by a token of its own.
func (e *estate) credentials(t *testing.T, name string) *rest.Config {
	t.Helper()
	token, err := e.admin.CoreV1().ServiceAccounts(e.namespace).
		CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(cluster(t).RESTConfig())
	config.BearerToken, config.QPS = token.Status.Token, -1
	return config
}

// right is one to ConfigMaps of the namespace, or to one of them.
func (e *estate) right(verb, name string) plan.Permission {
	return plan.Permission{Verb: verb, Resource: configmaps.GroupResource(), Namespace: e.namespace, Name: name}
}

func review(t *testing.T, config *rest.Config, account types.NamespacedName, permissions ...plan.Permission) (access.Finding, error) {
	t.Helper()
	reviewer, err := access.NewReviewer(config, account)
	if err != nil {
		t.Fatal(err)
	}
	return reviewer.Review(t.Context(), permissions)
}

// found waits for a review to find exactly this. The API server learns of roles a
// little later.
func found(t *testing.T, what string, account types.NamespacedName, permissions, missing []plan.Permission) {
	t.Helper()
	slices.SortFunc(missing, plan.Permission.Compare)
	eventually(t, what, func() bool {
		got, err := review(t, cluster(t).RESTConfig(), account, permissions...)
		return err == nil && got.Account == nil && got.UID != "" && slices.Equal(got.Missing, missing)
	})
}

func listed(t *testing.T, config *rest.Config, namespace, fieldSelector string) error {
	t.Helper()
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Resource(configmaps).Namespace(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: fieldSelector})
	return err
}

// TestAccessPermissions holds that the review says what the API server does: of rights
// that are lacking, given, and taken away.
func TestAccessPermissions(t *testing.T) {
	alongside(t)
	e := newEstate(t)
	account := e.account(t, "rules")
	as := access.Impersonate(cluster(t).RESTConfig(), account)
	list, watch := e.right("list", ""), e.right("watch", "")
	everywhere := plan.Permission{Verb: "list", Resource: schema.GroupResource{Resource: "configmaps"}}
	status := plan.Permission{Verb: "patch", Resource: tidbclusters.GroupResource(), Subresource: "status", Namespace: e.namespace}
	all := []plan.Permission{status, everywhere, list, watch}

	found(t, "it has no rights", account, all, slices.Clone(all))
	if err := listed(t, as, e.namespace, ""); !apierrors.IsForbidden(err) {
		t.Errorf("without a right to, it lists with the error %v", err)
	}
	reading := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}
	e.grant(t, "rules", reading, rbacv1.PolicyRule{APIGroups: []string{"pingcap.com"}, Resources: []string{"tidbclusters/status"}, Verbs: []string{"patch"}})
	found(t, "it may do all but look everywhere", account, all, []plan.Permission{everywhere})
	if err := listed(t, as, e.namespace, ""); err != nil {
		t.Errorf("with a right to, it does not list: %v", err)
	}
	if err := listed(t, as, "", ""); !apierrors.IsForbidden(err) {
		t.Errorf("it lists everywhere with the error %v", err)
	}
	reading.Verbs = []string{"watch"}
	e.grant(t, "rules", reading)
	found(t, "rights are taken away", account, all, []plan.Permission{status, everywhere, list})
	if err := listed(t, as, e.namespace, ""); !apierrors.IsForbidden(err) {
		t.Errorf("after the right was taken away, it lists with the error %v", err)
	}
}

// TestAccessByName holds what a role can allow for one object: all that rules do, even
// making it by an apply, but no list of others.
func TestAccessByName(t *testing.T) {
	alongside(t)
	e := newEstate(t)
	account := e.account(t, "rules")
	e.grant(t, "rules", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"settings"},
		Verbs: []string{"get", "list", "watch", "create", "patch"},
	})
	var all, missing []plan.Permission
	for _, verb := range []string{"get", "list", "watch", "create", "patch"} {
		all = append(all, e.right(verb, "settings"), e.right(verb, ""), e.right(verb, "other"))
		missing = append(missing, e.right(verb, ""), e.right(verb, "other"))
	}
	found(t, "it may do all with the object, and nothing else", account, all, missing)
	as := access.Impersonate(cluster(t).RESTConfig(), account)
	if err := listed(t, as, e.namespace, "metadata.name=settings"); err != nil {
		t.Errorf("it does not list the object: %v", err)
	}
	for _, selector := range []string{"", "metadata.name=other"} {
		if err := listed(t, as, e.namespace, selector); !apierrors.IsForbidden(err) {
			t.Errorf("it lists %q with the error %v", selector, err)
		}
	}
	c, err := dynamic.NewForConfig(as)
	if err != nil {
		t.Fatal(err)
	}
	apply := func(name string) error {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}}}
		_, err := c.Resource(configmaps).Namespace(e.namespace).Apply(t.Context(), name, object, metav1.ApplyOptions{FieldManager: "test"})
		return err
	}
	if err := apply("settings"); err != nil {
		t.Errorf("it does not make the object: %v", err)
	}
	if err := apply("other"); !apierrors.IsForbidden(err) {
		t.Errorf("it makes another one with the error %v", err)
	}
}

// TestAccessImpersonation holds what a process needs to act as one ServiceAccount, with
// an identity that has nothing else, and what it says while it lacks something of that.
func TestAccessImpersonation(t *testing.T) {
	alongside(t)
	e := newEstate(t)
	account, other := e.account(t, "rules"), e.account(t, "other")
	e.account(t, "controller")
	config := e.credentials(t, "controller")
	permission := e.right("list", "")

	if _, err := review(t, config, account, permission); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "asking whether there is ServiceAccount "+account.String()) {
		t.Errorf("without any right it says %v", err)
	}
	look := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{"rules", "other"}, Verbs: []string{"get"}}
	e.grant(t, "controller", look)
	denied := func(of types.NamespacedName) bool {
		got, err := review(t, config, of, permission)
		impersonation, is := errors.AsType[*access.ImpersonationError](got.Account)
		return err == nil && is && impersonation.Account == of && apierrors.IsForbidden(impersonation) && got.UID != ""
	}
	eventually(t, "it may look for the account, and not act as it", func() bool { return denied(account) })
	act := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{"rules"}, Verbs: []string{"impersonate"}}
	e.grant(t, "controller", look, act)
	eventually(t, "it may act as the account, which lacks a right", func() bool {
		got, err := review(t, config, account, permission)
		return err == nil && got.Account == nil && slices.Equal(got.Missing, []plan.Permission{permission})
	})
	if !denied(other) {
		t.Error("it may act as another account of the namespace")
	}
	e.grant(t, "rules", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}})
	eventually(t, "it lists as the account", func() bool { return listed(t, access.Impersonate(config, account), e.namespace, "") == nil })
	if err := listed(t, config, e.namespace, ""); !apierrors.IsForbidden(err) {
		t.Errorf("as itself, it lists with the error %v", err)
	}
	e.grant(t, "controller", look)
	eventually(t, "the right to act as it is taken away", func() bool { return denied(account) })
	if err := listed(t, access.Impersonate(config, account), e.namespace, ""); !apierrors.IsForbidden(err) {
		t.Errorf("without the right, it lists as the account with the error %v", err)
	}
}

// TestAccessGroups holds that the API server adds the groups of a ServiceAccount by
// itself, and that to ask for them takes more.
func TestAccessGroups(t *testing.T) {
	alongside(t)
	e := newEstate(t)
	account := e.account(t, "rules")
	e.account(t, "controller")
	e.grant(t, "controller", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{"rules"}, Verbs: []string{"impersonate"},
	})
	config := access.Impersonate(e.credentials(t, "controller"), account)
	self := func() (*authenticationv1.SelfSubjectReview, error) {
		c, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	}
	var who *authenticationv1.SelfSubjectReview
	eventually(t, "it acts as the account", func() (is bool) {
		var err error
		who, err = self()
		return err == nil
	})
	groups := slices.Sorted(slices.Values(who.Status.UserInfo.Groups))
	want := []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:" + e.namespace}
	if diff := cmp.Diff(want, groups); diff != "" || who.Status.UserInfo.Username != "system:serviceaccount:"+e.namespace+":rules" {
		t.Errorf("it is %s, of the groups (-want +got):\n%s", who.Status.UserInfo.Username, diff)
	}
	config.Impersonate.Groups = want
	if _, err := self(); !apierrors.IsForbidden(err) {
		t.Errorf("with groups asked for: %v", err)
	}
}

// TestAccessAccount holds what is told of an account that is missing, there, and another
// one of the same name.
func TestAccessAccount(t *testing.T) {
	virtually(t, func(t *testing.T) {
		e := newEstate(t)
		account := types.NamespacedName{Namespace: e.namespace, Name: "rules"}
		reviewer, err := access.NewReviewer(cluster(t).RESTConfig(), account)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var told []access.Verdict
		watcher := access.NewWatcher(reviewer, access.NewPace(), access.Intervals{}, clock.RealClock{}, func(v access.Verdict) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, v)
		})
		watcher.Lead()
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		running.Go(func() { watcher.Run(ctx) })
		becomes := func(what string, is func(access.Verdict) bool) (last access.Verdict) {
			t.Helper()
			watcher.Look()
			eventually(t, what, func() bool {
				mu.Lock()
				defer mu.Unlock()
				if len(told) > 0 {
					last = told[len(told)-1]
				}
				return is(last)
			})
			return last
		}
		absent := func(v access.Verdict) bool {
			return errors.Is(v.Account, access.ErrNoAccount) && v.UID == "" && v.Known
		}
		there := func(v access.Verdict) bool { return v.Account == nil && v.UID != "" && v.Known }

		becomes("there is no account", absent)
		e.account(t, "rules")
		first := becomes("it is there", there)
		e.dismiss(t, "rules")
		becomes("it is gone", absent)
		e.account(t, "rules")
		second := becomes("another one is there", there)
		e.dismiss(t, "rules")
		e.account(t, "rules")
		third := becomes("another one is there, at once", func(v access.Verdict) bool { return there(v) && v.UID != second.UID })
		if first.Recreated || !second.Recreated || !third.Recreated || first.UID == second.UID {
			t.Errorf("told of %v, %v, %v", first, second, third)
		}
	})
}
