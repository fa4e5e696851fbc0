//go:build !operator

package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/editor"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
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
			definitions, err := p.readCRDs(*crds, args)
			if err != nil {
				return err
			}
			given := crd.NewSource(definitions)
			bindings := editor.ByPlural(editor.Common(given))
			if len(args) > 0 {
				if bindings, err = p.declared(args, schema.NewCatalog(given, builtin.Source())); err != nil {
					return err
				}
			}
			text, err := editor.Schema(bindings)
			if err != nil {
				return internal(err)
			}
			return put(p.Stdout, "the schema", string(text))
		},
	}
	crds = addCRDsFlag(command.Flags())
	return command
}

// declared binds what the rules declare, and tells of what is not known. It reads as much of
// them as can be read: who writes rules needs the schema before they are right.
func (p Process) declared(paths []string, known *schema.Catalog) ([]editor.Binding, error) {
	sets, err := source.New(paths, p.Stdin, rules.Options{DefaultNamespace: offlineNamespace}).Sets()
	var failed *source.Error
	switch {
	case err != nil && !errors.As(err, &failed):
		return nil, internal(err)
	case failed != nil && len(failed.Unusable) > 0:
		return nil, &source.Error{Unusable: failed.Unusable}
	case failed != nil && len(sets) == 0:
		return nil, failure{exitFinding, failed.Mistakes}
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
