package up

import (
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/test/cluster/internal/supervisor"
)

// checked is a component and how to see that the next one may start.
type checked struct {
	supervisor.Component
	health probe
}

// components are in the order of their needs.
func (l *layout) components() []checked {
	components := []checked{
		{l.component("etcd", l.etcdFlags()), probe{}},
		{
			l.component("kube-apiserver", l.apiServerFlags()),
			probe{url: l.ports.apiServer.URL("https") + "/readyz", token: l.admin.Token},
		},
	}
	if l.options.ControllerManager {
		components = append(components, checked{
			l.component("kube-controller-manager", l.controllerManagerFlags()),
			probe{url: l.ports.manager.URL("https") + "/healthz"},
		})
	}
	return components
}

func (l *layout) component(name string, flags []string) supervisor.Component {
	return supervisor.Component{
		Name:    name,
		Dir:     l.path(name),
		Command: append([]string{l.binary, name}, flags...),
	}
}

func (l *layout) etcdFlags() []string {
	client, peer := l.ports.etcd.URL("http"), l.ports.etcdPeer.URL("http")
	return []string{
		"--name=etcd",
		"--data-dir=" + l.path("etcd", "data"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=etcd=" + peer,
		"--socket-reuse-port", // The port is held by us, see loopback.Port.
		"--unsafe-no-fsync",   // Only a crash of the machine could lose anything.
	}
}

func (l *layout) apiServerFlags() []string {
	flags := []string{
		"--etcd-servers=" + l.ports.etcd.URL("http"),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + l.ports.apiServer.String(),
		"--permit-port-sharing", // The port is held by us, see loopback.Port.
		"--tls-cert-file=" + l.path("credentials", "serving.crt"),
		"--tls-private-key-file=" + l.path("credentials", "serving.key"),
		"--token-auth-file=" + l.path("credentials", "tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + l.path("credentials", "service-account.key"),
		"--service-account-key-file=" + l.path("credentials", "service-account.key"),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--endpoint-reconciler-type=none", // An Endpoints object may not name a loopback address.
		"--allow-privileged",
	}
	if !l.options.ControllerManager {
		// Nobody makes the ServiceAccount "default", without which this plugin refuses every Pod.
		flags = append(flags, "--disable-admission-plugins=ServiceAccount")
	}
	return slices.Concat(flags, l.featureGates(), l.options.APIServerArgs)
}

func (l *layout) controllerManagerFlags() []string {
	flags := []string{
		"--kubeconfig=" + l.path("credentials", "kube-controller-manager.kubeconfig"),
		"--bind-address=127.0.0.1",
		"--secure-port=" + l.ports.manager.String(),
		"--permit-port-sharing", // The port is held by us, see loopback.Port.
		"--tls-cert-file=" + l.path("credentials", "serving.crt"),
		"--tls-private-key-file=" + l.path("credentials", "serving.key"),
		"--leader-elect=false", // There is one, and a lost lease would end it whenever the API server is down.
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + l.path("credentials", "service-account.key"),
		"--root-ca-file=" + l.path("credentials", "ca.crt"),
		"--flex-volume-plugin-dir=" + l.path("kube-controller-manager", "flexvolume"), // It is created, by default under /usr.
	}
	return slices.Concat(flags, l.featureGates(), l.options.ControllerManagerArgs)
}

func (l *layout) featureGates() []string {
	if len(l.options.FeatureGates) == 0 {
		return nil
	}
	return []string{"--feature-gates=" + strings.Join(l.options.FeatureGates, ",")}
}
