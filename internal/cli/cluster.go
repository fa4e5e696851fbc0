package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// cluster is the cluster that a command was pointed at.
type cluster struct {
	config    *rest.Config
	namespace string // of what names none
	origin    string // where the configuration is from, in words
	discovery discovery.DiscoveryInterface
}

// connect finds the cluster as kubectl does. It sends no request.
func connect(c config.Cluster, version string) (*cluster, error) {
	loading := clientcmd.NewDefaultClientConfigLoadingRules()
	loading.ExplicitPath = c.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{
		CurrentContext: c.Context,
		Context:        clientcmdapi.Context{Namespace: c.Namespace},
	}
	client := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(loading, overrides)
	raw, err := client.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	out := &cluster{}
	if out.config, err = client.ClientConfig(); err != nil {
		return nil, noCluster(raw, c.Context, err)
	}
	if out.namespace, _, err = client.Namespace(); err != nil {
		return nil, fmt.Errorf("finding the namespace of the context: %w", err)
	}
	out.origin = origin(raw, cmp.Or(c.Context, raw.CurrentContext))
	out.config.UserAgent = "dyncontroller/" + version
	limit(out.config, c)
	if out.discovery, err = discovery.NewDiscoveryClientForConfig(out.config); err != nil {
		return nil, fmt.Errorf("using the %s: %w", out.origin, err)
	}
	return out, nil
}

// limit bounds the rate of requests. A client without a limiter makes one of its own, and
// there are several for each identity; one that is in the configuration goes along with
// all copies of it, and bounds the process.
func limit(client *rest.Config, c config.Cluster) {
	client.QPS, client.Burst = c.QPS, c.Burst
	if c.QPS > 0 {
		client.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(c.QPS, c.Burst)
	}
}

// noCluster says what to do about it.
func noCluster(raw clientcmdapi.Config, context string, err error) error {
	switch {
	case clientcmd.IsEmptyConfig(err):
		return errors.New("there is no cluster to talk to: no kubeconfig in $KUBECONFIG or ~/.kube/config, and this is not a pod; name one with --kubeconfig")
	case context != "" && raw.Contexts[context] == nil:
		known := slices.Sorted(maps.Keys(raw.Contexts))
		if near := document.Suggest(context, known); near != "" {
			return fmt.Errorf("the kubeconfig has no context %q; did you mean %q?", context, near)
		}
		return fmt.Errorf("the kubeconfig has no context %q; it has %q", context, known)
	default:
		return fmt.Errorf("using the kubeconfig: %w", err)
	}
}

func origin(raw clientcmdapi.Config, name string) string {
	context := raw.Contexts[name]
	if context == nil {
		return "pod's service account"
	}
	return fmt.Sprintf("kubeconfig %s, context %s", context.LocationOfOrigin, name)
}

// String names the API server in messages.
func (c *cluster) String() string { return fmt.Sprintf("%s (%s)", c.config.Host, c.origin) }

// reachTimeout bounds one attempt to reach the API server.
const reachTimeout = 10 * time.Second

// reach asks the API server for its version. To be told that we may not know is
// an answer too.
func (c *cluster) reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	err := c.discovery.RESTClient().Get().AbsPath("/version").Do(ctx).Error()
	switch {
	case err == nil || apierrors.IsForbidden(err):
		return nil
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server at %s refuses the credentials: %w", c, err)
	default:
		var request *url.Error
		if errors.As(err, &request) {
			err = request.Err // The URL has been said.
		}
		return fmt.Errorf("cannot reach the API server at %s: %w; does it run, and is this the right one?", c, err)
	}
}

// The delays between attempts to reach the API server.
const (
	firstAttempt = time.Second
	lastAttempt  = 15 * time.Second
)

// wait returns once the API server answers, or with the error of the context.
// Every failure is passed to trouble, and logged when it is another one.
func (c *cluster) wait(ctx context.Context, clock clock.Clock, log *slog.Logger, trouble func(error)) error {
	said := ""
	for delay := firstAttempt; ; delay = min(2*delay, lastAttempt) {
		err := c.reach(ctx)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for the API server: %w", context.Cause(ctx))
		}
		trouble(err)
		if said != err.Error() {
			said = err.Error()
			log.Warn("waiting for the API server", "err", err)
		}
		timer := clock.NewTimer(delay)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
		}
	}
	if said != "" {
		log.Info("the API server answers", "server", c.config.Host)
	}
	return nil
}
