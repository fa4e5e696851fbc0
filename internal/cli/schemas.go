package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/pflag"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	clientdiscovery "k8s.io/client-go/discovery"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

// addCRDsFlag adds --crds, which several commands have. Its values are for
// [Process.definitions].
func addCRDsFlag(flags *pflag.FlagSet) *[]string {
	return flags.StringArray("crds", nil, "`PATH` of CustomResourceDefinitions: a file, a directory with all its folders or - for standard input; may be repeated")
}

// definitions reads the values of --crds. taken are the paths that the command
// reads besides: there is one standard input.
func (p Process) definitions(paths, taken []string) (schema.Source, error) {
	found, err := p.readCRDs(paths, taken)
	return crd.NewSource(found), err
}

// readCRDs does the same for who needs them as they are written.
func (p Process) readCRDs(paths, taken []string) ([]*crd.Definition, error) {
	all := slices.Concat(paths, taken)
	isStdin := func(path string) bool { return path == source.Stdin }
	if first := slices.IndexFunc(paths, isStdin); first >= 0 && slices.ContainsFunc(all[first+1:], isStdin) {
		return nil, errors.New("standard input, -, can be read only once")
	}
	definitions, err := source.ReadCRDs(paths, p.Stdin)
	if err != nil {
		return nil, failure{exitUsage, err}
	}
	return definitions, nil
}

// catalog knows what was given, and what Kubernetes itself has.
func catalog(given schema.Source) *schema.Catalog { return schema.NewCatalog(given, builtin.Source()) }

// served knows what Kubernetes itself has, and what a cluster says. Of built-in types
// we know more than an API server tells: which fields its defaults fill. One that is
// newer than we are has more fields.
func served(said schema.Source) []schema.Source {
	return []schema.Source{schema.Widened(builtin.Source(), said), said}
}

// addClusterFlags adds the flags that name a cluster to a command that does
// without one, unless it is told to.
func addClusterFlags(flags *pflag.FlagSet) *config.Cluster {
	out := &config.Cluster{QPS: config.NoLimit, Burst: config.NoLimit}
	flags.StringVar(&out.Kubeconfig, "kubeconfig", "", "ask the cluster of this kubeconfig `FILE` for the schemas that --crds does not give")
	flags.StringVar(&out.Context, "context", "", "ask the cluster of this context, by `NAME`, for the schemas that --crds does not give")
	return out
}

// named reports whether a cluster is to be asked.
func named(c *config.Cluster) bool { return c.Kubeconfig != "" || c.Context != "" }

// askTimeout bounds all that a cluster is asked for its schemas.
const askTimeout = 30 * time.Second

// ask returns what the cluster knows of the resources that are wanted.
func (c *cluster) ask(ctx context.Context, wanted []apischema.GroupVersionResource) (schema.Source, error) {
	if err := c.reach(ctx); err != nil {
		return nil, internal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	said, err := discovery.Ask(ctx, clientdiscovery.ToDiscoveryInterfaceWithContext(c.discovery), wanted)
	var request *url.Error
	switch {
	case err == nil:
		return said, nil
	case errors.As(err, &request) && request.Timeout():
		return nil, internal(fmt.Errorf("the API server at %s did not say within %s what it serves", c, askTimeout))
	default:
		return nil, internal(fmt.Errorf("%w (%s)", err, c))
	}
}
