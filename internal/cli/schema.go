package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/editor"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

func newSchema(p Process) *cobra.Command {
	var crds *[]string
	command := &cobra.Command{
		Use:   "schema [PATH...]",
		Short: "Print a JSON schema of rules, for editors",
		Long: `Print a JSON schema (draft-07) of rules and their tests, with which an editor
completes them and shows mistakes. Bodies of patches and manifests complete as
well, where it is known which fields the objects have.

With PATHs of rules - files, directories (their *.yaml, *.yml and *.json) or -
for the standard input - that is what the rules name under "resources". The rules
may be unfinished. Without, it is all that --crds has and the common resources of
Kubernetes, each under its plural name.

Exit code: 0; 1 if nothing can be read of the rules; 2 if a PATH cannot be read
or holds no rules.`,
		Example: `  dyncontroller schema > rules.schema.json
  dyncontroller schema --crds crds/ > rules.schema.json
  dyncontroller schema rules/ --crds crds/ > rules.schema.json`,
		RunE: func(_ *cobra.Command, args []string) error {
			given, err := p.definitions(*crds, args)
			if err != nil {
				return err
			}
			bindings := editor.ByPlural(common(given))
			if len(args) > 0 {
				if bindings, err = p.declared(args, catalog(given)); err != nil {
					return err
				}
			}
			return p.showSchema(bindings)
		},
	}
	crds = addCRDsFlag(command.Flags())
	return command
}

func (p Process) showSchema(bindings []editor.Binding) error {
	text, err := editor.Schema(bindings)
	if err != nil {
		return internal(err)
	}
	if _, err := p.Stdout.Write(text); err != nil {
		return internal(fmt.Errorf("writing the schema: %w", err))
	}
	return nil
}

// declared binds what the rules declare, and tells of what is not known.
func (p Process) declared(paths []string, known *schema.Catalog) ([]editor.Binding, error) {
	sets, err := p.ruleSets(paths)
	if err != nil {
		return nil, err
	}
	var missing []apischema.GroupVersionResource
	bindings := editor.ByDeclaration(sets, func(gvr apischema.GroupVersionResource) *schema.Resource {
		found := known.Resource(gvr)
		written := gvr.Resource != "" && gvr.Version != ""
		if found == nil && written && !slices.Contains(missing, gvr) {
			missing = append(missing, gvr)
		}
		return found
	})
	for _, gvr := range missing {
		fmt.Fprintf(p.Stderr, "dyncontroller: %s is not known, so its bodies will not complete; name its CRD with --crds\n", plan.ResourceName(gvr))
	}
	return bindings, nil
}

// ruleSets reads as much of rules as can be read: who writes them needs the schema
// before they are right.
func (p Process) ruleSets(paths []string) ([]*spec.Set, error) {
	sets, err := source.New(paths, p.Stdin, rules.Options{DefaultNamespace: offlineNamespace}).Sets()
	var failed *source.Error
	switch {
	case err != nil && !errors.As(err, &failed):
		return nil, internal(err)
	case failed != nil && len(failed.Unusable) > 0:
		return nil, &source.Error{Unusable: failed.Unusable}
	case failed != nil && len(sets) == 0:
		return nil, failure{exitFinding, failed.Mistakes}
	default:
		return sets, nil
	}
}

// common are all resources that are given, and those of Kubernetes that rules are
// mostly about.
func common(given schema.Source) []*schema.Resource {
	var out []*schema.Resource
	for _, name := range given.Resources() {
		out = append(out, given.Resource(name.GroupVersionResource))
	}
	for _, gvr := range commonResources() {
		if found := builtin.Source().Resource(gvr); found != nil && given.Resource(gvr) == nil {
			out = append(out, found)
		}
	}
	return out
}

func commonResources() []apischema.GroupVersionResource {
	var out []apischema.GroupVersionResource
	for _, of := range []struct {
		version   apischema.GroupVersion
		resources string
	}{
		{apischema.GroupVersion{Version: "v1"}, "configmaps limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods resourcequotas secrets serviceaccounts services"},
		{apischema.GroupVersion{Group: "apps", Version: "v1"}, "daemonsets deployments replicasets statefulsets"},
		{apischema.GroupVersion{Group: "autoscaling", Version: "v2"}, "horizontalpodautoscalers"},
		{apischema.GroupVersion{Group: "batch", Version: "v1"}, "cronjobs jobs"},
		{apischema.GroupVersion{Group: "coordination.k8s.io", Version: "v1"}, "leases"},
		{apischema.GroupVersion{Group: "discovery.k8s.io", Version: "v1"}, "endpointslices"},
		{apischema.GroupVersion{Group: "networking.k8s.io", Version: "v1"}, "ingresses networkpolicies"},
		{apischema.GroupVersion{Group: "policy", Version: "v1"}, "poddisruptionbudgets"},
		{apischema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}, "clusterrolebindings clusterroles rolebindings roles"},
		{apischema.GroupVersion{Group: "scheduling.k8s.io", Version: "v1"}, "priorityclasses"},
		{apischema.GroupVersion{Group: "storage.k8s.io", Version: "v1"}, "storageclasses"},
	} {
		for resource := range strings.FieldsSeq(of.resources) {
			out = append(out, of.version.WithResource(resource))
		}
	}
	return out
}
