//go:build !operator

package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/pkg/client"
)

// completionTimeout bounds what a completion asks a cluster, as a user waits for it at the prompt. mostCompletions bounds a list.
const (
	completionTimeout = 3 * time.Second
	mostCompletions   = 500
)

// completeCluster offers contexts and namespaces to the completion of a shell, for each command that has such a flag. Where the cluster cannot
// be asked, nothing is offered.
func (p Process) completeCluster(root *cobra.Command) {
	for _, command := range root.Commands() {
		for flag, complete := range map[string]cobra.CompletionFunc{"context": completeContexts, "namespace": p.completeNamespaces} {
			if command.Flags().Lookup(flag) != nil {
				_ = command.RegisterFlagCompletionFunc(flag, complete) // As with completeFlag.
			}
		}
	}
}

func completeContexts(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	loading := clientcmd.NewDefaultClientConfigLoadingRules()
	loading.ExplicitPath = flagText(command, "kubeconfig")
	known, err := loading.Load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(known.Contexts)), cobra.ShellCompDirectiveNoFileComp
}

func (p Process) completeNamespaces(command *cobra.Command, _ []string, _ string) (out []string, how cobra.ShellCompDirective) {
	p.askForCompletion(command, func(ctx context.Context, c *cluster) error {
		var err error
		out, err = c.names(ctx, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "")
		return err
	})
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeObject offers RESOURCE/NAME: first the resources, and then the names of their objects.
func (p Process) completeObject(command *cobra.Command, word string) (out []string, how cobra.ShellCompDirective) {
	resource, _, named := strings.Cut(word, "/")
	how = cobra.ShellCompDirectiveNoFileComp
	if !named {
		resource, how = "", how|cobra.ShellCompDirectiveNoSpace
	}
	p.askForCompletion(command, func(ctx context.Context, c *cluster) error {
		at, err := c.locate(ctx, cmp.Or(resource, "namespaces")+"/x", nil)
		if err != nil {
			return err
		}
		if named {
			names, err := c.names(ctx, at.object.GVR, at.object.Namespace)
			for _, name := range names {
				out = append(out, resource+"/"+name)
			}
			return err
		}
		for _, r := range at.served {
			if slices.Contains(r.Verbs, "list") {
				out = append(out, r.Name+"/")
			}
		}
		return nil
	})
	slices.Sort(out)
	return slices.Compact(out), how
}

// completeSets offers the sets of the cluster, and their rules if these can be named too.
func (p Process) completeSets(withRules bool) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, _ string) (out []string, how cobra.ShellCompDirective) {
		p.askForCompletion(command, func(ctx context.Context, c *cluster) error {
			objects, err := c.setObjects(ctx, flagText(command, "namespace"))
			for _, object := range objects {
				for _, id := range idsOf(object) {
					switch {
					case id.Name == "":
						out = append(out, id.Set)
					case withRules:
						out = append(out, id.Set+"/"+id.Name)
					}
				}
			}
			return err
		})
		slices.Sort(out)
		return slices.Compact(out), cobra.ShellCompDirectiveNoFileComp
	}
}

// askForCompletion asks the cluster that the flags of a command name. An error is nothing that a shell could show.
func (p Process) askForCompletion(command *cobra.Command, ask func(context.Context, *cluster) error) {
	c, err := p.connect(config.Cluster{
		Kubeconfig: flagText(command, "kubeconfig"), Context: flagText(command, "context"), Namespace: flagText(command, "namespace"),
		QPS: config.NoLimit, Burst: config.NoLimit,
	})
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(command.Context(), completionTimeout)
	defer cancel()
	_ = ask(ctx, c)
}

func flagText(command *cobra.Command, name string) string {
	if flag := command.Flags().Lookup(name); flag != nil {
		return flag.Value.String()
	}
	return ""
}

// names are those of the objects of a resource, in a namespace or in all.
func (c *cluster) names(ctx context.Context, gvr schema.GroupVersionResource, namespace string) (out []string, err error) {
	objects, err := client.Dynamic(c.config)
	if err != nil {
		return nil, err //nolint:wrapcheck // A completion shows no error.
	}
	found, err := objects.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: mostCompletions})
	if err != nil {
		return nil, err //nolint:wrapcheck // A completion shows no error.
	}
	for i := range found.Items {
		out = append(out, found.Items[i].GetName())
	}
	return out, nil
}
