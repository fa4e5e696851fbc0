package up

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dyncontroller/dyncontroller/test/cluster/internal/credentials"
	"github.com/dyncontroller/dyncontroller/test/cluster/internal/loopback"
)

// layout is where everything is: ports, credentials and files. Nothing in it changes while the control plane runs,
// so that a restarted component is found where it was.
type layout struct {
	options Options
	binary  string
	serving credentials.Serving
	admin   credentials.User
	manager credentials.User
	ports   ports
}

type ports struct {
	etcd, etcdPeer, apiServer, manager *loopback.Port
}

// newLayout reserves ports and writes credentials; release must be called in the end.
func newLayout(o Options) (*layout, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	l := &layout{
		options: o,
		binary:  binary,
		admin:   credentials.NewUser("admin", "system:masters"),
		manager: credentials.NewUser("system:kube-controller-manager"),
	}
	for _, port := range []**loopback.Port{&l.ports.etcd, &l.ports.etcdPeer, &l.ports.apiServer, &l.ports.manager} {
		if *port, err = loopback.Reserve(); err != nil {
			l.release()
			return nil, err
		}
	}
	if err := l.writeCredentials(); err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

func (l *layout) release() {
	for _, port := range []*loopback.Port{l.ports.etcd, l.ports.etcdPeer, l.ports.apiServer, l.ports.manager} {
		if port != nil {
			_ = port.Close()
		}
	}
}

func (l *layout) path(elements ...string) string {
	return filepath.Join(append([]string{l.options.Dir}, elements...)...)
}

// writeCredentials makes new ones at every start: with the ports new too, no old kubeconfig could be of use.
func (l *layout) writeCredentials() error {
	if err := os.Remove(l.path("kubeconfig")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	serving, err := credentials.NewServing(time.Now())
	if err != nil {
		return err
	}
	l.serving = serving
	signing, err := credentials.NewSigningKey()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.path("credentials"), 0o700); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"ca.crt":                             serving.CA,
		"serving.crt":                        serving.Certificate,
		"serving.key":                        serving.Key,
		"service-account.key":                signing,
		"tokens.csv":                         credentials.TokenFile(l.admin, l.manager),
		"kube-controller-manager.kubeconfig": l.kubeconfig(l.manager),
	} {
		if err := writeAtomically(l.path("credentials", name), data); err != nil {
			return fmt.Errorf("writing credentials: %w", err)
		}
	}
	return nil
}

func (l *layout) kubeconfig(u credentials.User) []byte {
	return credentials.Kubeconfig(l.ports.apiServer.URL("https"), l.serving.CA, u)
}

func (l *layout) writeKubeconfig() error {
	return writeAtomically(l.path("kubeconfig"), l.kubeconfig(l.admin))
}
