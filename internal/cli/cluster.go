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
	"strings"
	"time"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// cluster is the cluster that a command was pointed at.
type cluster struct {
	config    *rest.Config
	namespace string // of what names none
	origin    string // where the configuration is from, in words
	discovery *discovery.Client
}

// The usages of flags of commands that need a cluster.
const (
	clusterAsRun        = "the kubeconfig `FILE` to use, as of run"
	contextOfKubeconfig = "the context `NAME` of the kubeconfig"
)

// addClusterFlags adds the flags that name a cluster.
func addClusterFlags(flags *pflag.FlagSet, kubeconfig, context, namespace string) *config.Cluster {
	out := &config.Cluster{QPS: config.NoLimit, Burst: config.NoLimit}
	flags.StringVar(&out.Kubeconfig, "kubeconfig", "", kubeconfig)
	flags.StringVar(&out.Context, "context", "", context)
	if namespace != "" {
		flags.StringVarP(&out.Namespace, "namespace", "n", "", namespace)
	}
	return out
}

// named reports whether a cluster is to be asked.
func named(c *config.Cluster) bool { return c.Kubeconfig != "" || c.Context != "" }

// inPod is the origin of the configuration of a process that runs in a Pod.
const inPod = "pod's service account"

// connect finds the cluster as kubectl does. It sends no request.
func (p Process) connect(c config.Cluster) (*cluster, error) {
	loading := clientcmd.NewDefaultClientConfigLoadingRules()
	loading.ExplicitPath = c.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: c.Context, Context: clientcmdapi.Context{Namespace: c.Namespace}}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(loading, overrides)
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	out := &cluster{origin: inPod}
	if out.config, err = loader.ClientConfig(); err != nil {
		return nil, noCluster(raw, c.Context, loading.GetLoadingPrecedence(), err)
	}
	if out.namespace, _, err = loader.Namespace(); err != nil {
		return nil, fmt.Errorf("finding the namespace of the context: %w", err)
	}
	name := cmp.Or(c.Context, raw.CurrentContext)
	if context := raw.Contexts[name]; context != nil {
		out.origin = fmt.Sprintf("kubeconfig %s, context %s", context.LocationOfOrigin, name)
	}
	if p.Transport != nil {
		out.config.Transport = p.Transport
	}
	out.config = client.WithoutEarlyRefusals(out.config, clock.RealClock{})
	out.config.UserAgent = "dyncontroller/" + p.version()
	out.config.QPS, out.config.Burst = c.QPS, c.Burst
	if c.QPS > 0 {
		// A client without a limiter makes one of its own, and there are several for each identity. One that is in the
		// configuration goes along with all copies of it, and bounds the process.
		out.config.RateLimiter = client.NewLimiter(c.QPS, c.Burst)
	}
	if out.discovery, err = discovery.NewClient(out.config); err != nil {
		return nil, fmt.Errorf("using the %s: %w", out.origin, err)
	}
	return out, nil
}

// noCluster says what to do about it.
func noCluster(raw clientcmdapi.Config, context string, paths []string, err error) error {
	switch {
	case clientcmd.IsEmptyConfig(err) || context != "" && len(raw.Contexts) == 0:
		return fmt.Errorf("there is no cluster to talk to: no kubeconfig with a context is at %s, and this is not a pod; name one with --kubeconfig", strings.Join(paths, " or "))
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
		if request, failed := errors.AsType[*url.Error](err); failed {
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

// askTimeout bounds all that a cluster is asked for its schemas, or for its set objects.
const askTimeout = 30 * time.Second

// ask returns what the cluster knows of the resources that are wanted.
func (c *cluster) ask(ctx context.Context, wanted []apischema.GroupVersionResource) (schema.Source, error) {
	if err := c.reach(ctx); err != nil {
		return nil, internal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	said, err := discovery.Ask(ctx, c.discovery, wanted)
	request, failed := errors.AsType[*url.Error](err)
	switch {
	case err == nil:
		return said, nil
	case failed && request.Timeout():
		return nil, internal(fmt.Errorf("the API server at %s did not say within %s what it serves", c, askTimeout))
	default:
		return nil, internal(fmt.Errorf("%w (%s)", err, c))
	}
}

// setObjects lists the set objects that there are now: all of them, or with a namespace its RuleSets.
func (c *cluster) setObjects(ctx context.Context, namespace string) ([]source.Object, error) {
	process, err := client.Dynamic(client.WithoutRetries(c.config))
	if err != nil {
		return nil, fmt.Errorf("making a client for rule sets: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return source.List(ctx, process, namespace) //nolint:wrapcheck // It says what was asked for.
}

// clusterSchemas is what run knows of the objects: what Kubernetes itself has, and what
// its cluster says, as long as it answers. It is for one goroutine.
type clusterSchemas struct {
	follower *discovery.Follower
	known    *schema.Catalog
	// learn is told what the cluster says whenever it is asked, nil for nobody. It has been told something once the cluster
	// has answered.
	learn    func(said schema.Source, wanted []apischema.GroupVersionResource)
	answered bool
	// log is nil until there are rules to run: of what is refused there is enough to
	// say.
	log *slog.Logger
	// trouble is why the cluster does not say all, nil while it does, and said what was
	// logged of it.
	trouble error
	said    string
	partly  bool // the cluster has told something besides the trouble
	changed chan struct{}
}

func newClusterSchemas(target *cluster, learn func(schema.Source, []apischema.GroupVersionResource), log *slog.Logger) *clusterSchemas {
	return &clusterSchemas{
		follower: discovery.Follow(target.discovery),
		known:    offlineSchemas(), learn: learn, log: log, changed: make(chan struct{}, 1),
	}
}

// offlineSchemas are those that need no cluster. A resource that is not among them may
// be served all the same.
func offlineSchemas() *schema.Catalog { return schema.NewCatalog(builtin.Source()).Growing() }

// Ask implements [source.Schemas]. Rules are compiled by what was known before where
// the cluster does not answer: it is the engine that waits for it.
func (s *clusterSchemas) Ask(ctx context.Context, wanted []apischema.GroupVersionResource) (known *schema.Catalog, news bool) {
	asking, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	said, news, err := s.follower.Ask(asking, wanted)
	if ctx.Err() != nil {
		return s.known, false // Nobody asks any more.
	}
	if said != nil {
		s.known = schema.NewCatalog(said, builtin.Source()).Growing()
		s.answered = true
		if s.learn != nil { // With or without news: it may be the first time that one of these is asked about.
			s.learn(said, wanted)
		}
	}
	s.trouble, s.partly = err, said != nil
	s.report()
	return s.known, news
}

// Changed implements [source.Schemas].
func (s *clusterSchemas) Changed() <-chan struct{} { return s.changed }

// mayHaveChanged has the cluster asked at once. It never blocks.
func (s *clusterSchemas) mayHaveChanged() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// report logs a trouble when it begins, changes and ends, with what rules are checked against in spite of it.
func (s *clusterSchemas) report() {
	switch {
	case s.log == nil, s.trouble == nil && s.said == "", s.trouble != nil && s.said == s.trouble.Error():
		return
	case s.trouble == nil:
		s.said = ""
		s.log.Info("the schemas of the cluster are known")
		return
	}
	s.said = s.trouble.Error()
	switch {
	case s.partly:
		s.log.Warn("some schemas of the cluster are not known, rules are not checked against these", "err", s.trouble)
	case s.answered:
		s.log.Warn("the cluster does not return its schemas, rules are checked against the last ones that it returned", "err", s.trouble)
	default:
		s.log.Warn("the schemas of the cluster are not known, rules are checked against those of Kubernetes alone", "err", s.trouble)
	}
}
