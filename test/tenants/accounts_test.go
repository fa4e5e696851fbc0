package tenants

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const aConfigMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NAMESPACE, annotations: {color: red}}\n"

// house is a namespace with a set of the account bot, and one of the account neighbour.
type house struct{ namespace, bot string }

func newHouse(t *testing.T) house {
	t.Helper()
	namespace := cluster.Namespace(t)
	account(t, cluster, namespace, "bot", may("get, list, watch, patch"))
	account(t, cluster, namespace, "neighbour", mayPaint)
	apply(t, cluster, namespace, painter("guard", "bot", "configmaps")+"---\n"+painter("other", "neighbour", "limitranges"))
	apply(t, cluster, namespace, aConfigMap)
	apply(t, cluster, namespace, "apiVersion: v1\nkind: LimitRange\nmetadata: {name: a, namespace: NAMESPACE, annotations: {color: red}}\nspec: {limits: []}\n")
	return house{namespace, "system:serviceaccount:" + namespace + ":bot"}
}

func (h house) remove(t *testing.T) {
	t.Helper()
	kubectl(t, cluster, "delete", "serviceaccount", "bot", "-n", h.namespace)
}

func (h house) remake(t *testing.T) {
	t.Helper()
	kubectl(t, cluster, "create", "serviceaccount", "bot", "-n", h.namespace)
}

func (h house) paint(t *testing.T, color string) {
	t.Helper()
	patch := `{"metadata": {"annotations": {"color": "` + color + `"}}}`
	edit(t, cluster, configmaps, h.namespace, "a", patch)
	edit(t, cluster, limitranges, h.namespace, "a", patch)
}

// neighbour waits until the set of the other account has painted.
func (h house) neighbour(t *testing.T, color string) {
	t.Helper()
	eventually(t, "the neighbour paints it "+color, func() bool { return label(t, limitranges, h.namespace, "painted") == color })
}

// works waits until guard is ready and has painted.
func (h house) works(t *testing.T, color string) {
	t.Helper()
	eventually(t, "guard paints it "+color, func() bool { return label(t, configmaps, h.namespace, "painted") == color })
	eventually(t, "guard is ready", func() bool {
		status, _, _ := condition(t, cluster, ruleSets, h.namespace, "guard", "Ready")
		return status == "True"
	})
	if status, _, message := condition(t, cluster, ruleSets, h.namespace, "guard", "Stalled"); status != "" {
		t.Errorf("guard is ready, and stalled: %s", message)
	}
}

// refused waits for guard to say that there is nobody to act as.
func (h house) refused(t *testing.T, limit time.Duration, want string) {
	t.Helper()
	var message string
	within(t, limit, "guard says why it cannot act", func() bool {
		status, reason, text := condition(t, cluster, ruleSets, h.namespace, "guard", "Ready")
		message = text
		return status == "False" && reason == "NoServiceAccount"
	})
	if message != want {
		t.Errorf("the message is %q, want %q", message, want)
	}
	if status, reason, _ := condition(t, cluster, ruleSets, h.namespace, "guard", "Stalled"); status != "True" || reason != "NoServiceAccount" {
		t.Errorf("Stalled is %q for the reason %q", status, reason)
	}
}

// silent checks that nothing is sent as the account while others work, and nothing is
// watched.
func (h house) silent(t *testing.T, since time.Time) {
	t.Helper()
	if sent := by(t, since, h.bot); len(sent) > 0 {
		t.Errorf("requests as an account that is not there: %+v", sent)
	}
	eventually(t, "the watches as the account end", func() bool { return watching(t, h.bot, "configmaps") == 0 })
}

func (h house) uid(t *testing.T) string {
	t.Helper()
	uid, _ := field(get(t, cluster, serviceaccounts, h.namespace, "bot"), "metadata", "uid").(string)
	return uid
}

// TestAccountIsNotThere holds that nothing is done as an account that does not exist,
// though the API server would allow it, and that it is once the account is there.
func TestAccountIsNotThere(t *testing.T) {
	h := newHouse(t)
	h.remove(t)
	began := time.Now()
	start(t, cluster)
	missing := "there is no such ServiceAccount: " + h.namespace + "/bot"
	h.refused(t, noticed, missing)
	h.neighbour(t, "red")
	h.paint(t, "blue")
	h.neighbour(t, "blue")
	h.silent(t, began)
	if got := label(t, configmaps, h.namespace, "painted"); got != nil {
		t.Errorf("painted %v by an account that does not exist", got)
	}
	made := time.Now()
	h.remake(t)
	h.works(t, "blue")
	t.Logf("ready %s after the account was made", time.Since(made).Round(time.Millisecond))
}

// TestAccountDeleted holds that an account which is deleted is not acted as any more,
// though its RoleBinding stays, and that another one of its name is.
func TestAccountDeleted(t *testing.T) {
	h := newHouse(t)
	start(t, cluster)
	h.works(t, "red")
	uid := h.uid(t)
	deleted := time.Now()
	h.remove(t)
	h.refused(t, noticed, "there is no such ServiceAccount: "+h.namespace+"/bot")
	t.Logf("refused %s after the account was deleted", time.Since(deleted).Round(time.Millisecond))

	silent := time.Now()
	h.paint(t, "blue")
	h.neighbour(t, "blue")
	h.silent(t, silent)
	if got := label(t, configmaps, h.namespace, "painted"); got != "red" {
		t.Errorf("painted %v by an account that does not exist", got)
	}

	made := time.Now()
	h.remake(t)
	if h.uid(t) == uid {
		t.Fatal("it is the same account")
	}
	h.works(t, "blue")
	t.Logf("recovered %s after the account was made again", time.Since(made).Round(time.Millisecond))
}

// TestAccountReplaced holds that what was read as an account is not used for another one
// of its name, though nobody saw a moment without one.
func TestAccountReplaced(t *testing.T) {
	h := newHouse(t)
	start(t, cluster)
	h.works(t, "red")
	before := opened(t, h.bot)
	h.remove(t)
	h.remake(t)
	replaced := time.Now()
	within(t, noticed, "it reads anew as the new account", func() bool {
		now := opened(t, h.bot)
		return watching(t, h.bot, "configmaps") == 1 && len(now) > len(before)
	})
	t.Logf("read anew %s after the account was replaced", time.Since(replaced).Round(time.Millisecond))
	h.paint(t, "blue")
	h.works(t, "blue")
	h.neighbour(t, "blue")
}

// TestImpersonationDenied holds that a set of an account as which the controller may not
// act says so with the right that is lacking, and that the others go on.
func TestImpersonationDenied(t *testing.T) {
	h := newHouse(t)
	home := cluster.Namespace(t)
	apply(t, cluster, home, limited)
	gone(t, clusterRoles, "", home)
	gone(t, clusterBindings, "", home)
	apply(t, cluster, h.namespace, mayBe("neighbour", home))
	start(t, cluster, "--kubeconfig", kubeconfigOf(t, home), "--namespace", home)

	lacks := "dyncontroller may not act as ServiceAccount " + h.namespace +
		`/bot: it lacks the verb impersonate on serviceaccounts "bot" in namespace ` + h.namespace
	h.neighbour(t, "red")
	h.refused(t, noticed, lacks)

	apply(t, cluster, h.namespace, mayBe("neighbour, bot", home))
	h.works(t, "red")

	taken := time.Now()
	apply(t, cluster, h.namespace, mayBe("neighbour", home))
	h.refused(t, noticed-time.Since(taken), lacks)
	t.Logf("refused %s after the right was taken away", time.Since(taken).Round(time.Millisecond))
	h.paint(t, "blue")
	h.neighbour(t, "blue")
	if got := label(t, configmaps, h.namespace, "painted"); got != "red" {
		t.Errorf("painted %v without the right to", got)
	}
	apply(t, cluster, h.namespace, mayBe("neighbour, bot", home))
	h.works(t, "blue")
}

// limited is a controller that may run sets, but act as nobody.
const limited = `apiVersion: v1
kind: ServiceAccount
metadata: {name: controller, namespace: NAMESPACE}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAMESPACE}
rules:
- {apiGroups: [dyncontroller.dev], resources: [rulesets, clusterrulesets], verbs: [get, list, watch, patch, update]}
- {apiGroups: [dyncontroller.dev], resources: [rulesets/status, clusterrulesets/status], verbs: [get, patch, update]}
- {apiGroups: [""], resources: [serviceaccounts], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAMESPACE}
subjects: [{kind: ServiceAccount, name: controller, namespace: NAMESPACE}]
`

// mayBe lets the controller act as these ServiceAccounts.
func mayBe(names, home string) string {
	return role("controller", `{apiGroups: [""], resources: [serviceaccounts], verbs: [impersonate], resourceNames: [`+names+`]}`) + `---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: controller, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: controller}
subjects: [{kind: ServiceAccount, name: controller, namespace: ` + home + `}]
`
}

// kubeconfigOf is a kubeconfig of the controller's own account.
func kubeconfigOf(t *testing.T, home string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(kubectl(t, cluster, "create", "token", "controller", "-n", home))
	config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo] = &clientcmdapi.AuthInfo{Token: token}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}
