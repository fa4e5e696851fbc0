package tenants

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// TestImpersonationDenied holds that a set of an account as which the controller may not
// act says so with the right that is lacking, and that the others go on.
func TestImpersonationDenied(t *testing.T) {
	virtually(t, func(t *testing.T) {
		y := newYard(t)
		home := cluster(t).Namespace(t)
		apply(t, cluster(t), home, limited)
		gone(t, clusterRoles, home)
		gone(t, clusterRoleBindings, home)
		apply(t, cluster(t), y.namespace, mayBe("neighbour", home))
		startLooking(t, cluster(t), often, "--kubeconfig", kubeconfigOf(t, home), "--namespace", home)

		lacks := "dyncontroller may not act as ServiceAccount " + y.namespace +
			`/bot: it lacks the verb impersonate on serviceaccounts "bot" in namespace ` + y.namespace
		y.neighbour(t, "red")
		y.refused(t, noticed, lacks)

		apply(t, cluster(t), y.namespace, mayBe("neighbour, bot", home))
		y.works(t, "red")

		taken := time.Now()
		apply(t, cluster(t), y.namespace, mayBe("neighbour", home))
		y.refused(t, noticed-time.Since(taken), lacks)
		t.Logf("refused %s after the right was taken away", time.Since(taken).Round(time.Millisecond))
		silent := moment()
		y.paint(t, "blue")
		y.neighbour(t, "blue")
		if slices.ContainsFunc(by(t, silent, y.bot), request.granted) {
			t.Errorf("done as an account that one may not act as: %+v", by(t, silent, y.bot))
		}
		eventually(t, "the watches as the account end", func() bool { return watching(t, y.bot, "configmaps") == 0 })
		if got := label(t, configmaps, y.namespace, "painted"); got != "red" {
			t.Errorf("painted %v without the right to", got)
		}
		apply(t, cluster(t), y.namespace, mayBe("neighbour, bot", home))
		y.works(t, "blue")
	})
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
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if c := virtual.Of(t); c != nil {
		if err := c.WriteKubeconfig(path, virtual.KubeconfigOptions{User: "system:serviceaccount:" + home + ":controller"}); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config, err := clientcmd.LoadFromFile(cluster(t).Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(kubectl(t, controlPlane(t), "create", "token", "controller", "-n", home))
	config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo] = &clientcmdapi.AuthInfo{Token: token}
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}
