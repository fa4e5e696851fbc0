//go:build !operator

package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dns "k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/rbac"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// authorization is a run of the command rbac. It checks rules as validate does.
type authorization struct {
	validation
	account  types.NamespacedName // empty where --service-account is not given
	instance string
}

func newRBAC(p Process) *cobra.Command {
	a := &authorization{validation: validation{Process: p}}
	command := &cobra.Command{
		Use:   "rbac PATH...",
		Short: "Print the least roles that rules need",
		Long: `Print the roles that rules need to do all that they may come to do, and to clean
up after themselves, and nothing else, as YAML: a ClusterRole for what is needed
in the whole cluster, a Role for each namespace that a right is bound to, and
their bindings to the ServiceAccount of each set. Comments name the rules that
need the verbs. Rights are added to what the account has otherwise. A PATH is as
of validate.

A set that names no ServiceAccount acts as the process itself. Its roles are bound
to that of --service-account, and without it to none. With it, that account also
gets what run itself needs: the inventory of --instance and its Lease, in the
namespace of the account, and to act as the ServiceAccounts of the other sets.

Whether a resource has namespaces is known of those of Kubernetes itself, of custom
resources from the CRDs that --crds names, or from the cluster of --kubeconfig or
--context. What is not known is taken to have them.

Exit code: 0 if the roles are printed, 1 if there is a mistake in the rules, 2 if a
PATH cannot be read or holds nothing of its kind, 3 if the cluster cannot be asked.`,
		Example: `  dyncontroller rbac rules/ --crds crds/
  dyncontroller rbac rules/ --service-account dyncontroller/rules > rbac.yaml
  dyncontroller rbac rules/ --context staging --namespace shop
  dyncontroller rbac rules/ | kubectl auth reconcile -f -`,
		Args: paths,
		RunE: func(command *cobra.Command, args []string) error {
			a.paths = args
			return a.run(command.Context())
		},
	}
	flags := command.Flags()
	a.addFlags(flags, ownNamespace)
	flags.Var(&config.Value{Kind: "NAMESPACE/NAME", Check: func(text string) error {
		namespace, name, parted := strings.Cut(text, "/")
		if !parted {
			return fmt.Errorf("want NAMESPACE/NAME, have %q", text)
		}
		if wrong := slices.Concat(dns.IsDNS1123Label(namespace), dns.IsDNS1123Subdomain(name)); len(wrong) > 0 {
			return fmt.Errorf("%q cannot name a ServiceAccount: %s", text, wrong[0])
		}
		a.account = types.NamespacedName{Namespace: namespace, Name: name}
		return nil
	}}, "service-account", "the ServiceAccount of the process; sets that name none act as it")
	flags.StringVar(&a.instance, "instance", config.DefaultInstance, "`NAME` of the instance, as of run")
	return command
}

func (a *authorization) run(ctx context.Context) error {
	stored, err := inventory.ConfigMapName(a.instance)
	if err != nil {
		return failure{exitUsage, err}
	}
	set, err := a.load(ctx)
	if err != nil {
		return err
	}
	a.remark(set)
	// What each account needs, once.
	needs := map[types.NamespacedName][]rules.Need{}
	for _, identity := range set.Identities() {
		of := cmp.Or(identity, a.account)
		needs[of] = append(needs[of], set.Of(identity).Needs()...)
	}
	if a.account.Name != "" {
		needs[a.account] = append(needs[a.account], a.ofProcess(set, stored)...)
	}
	return put(a.Stdout, "the roles", rbac.YAML(needs))
}

// ofProcess is what run needs for rules of files besides what the rules need, whoever acts for them. Its inventory is stored in a ConfigMap
// of that name.
func (a *authorization) ofProcess(set *rules.Set, stored string) (out []rules.Need) {
	need := func(gvr schema.GroupVersionResource, name string, by []plan.Rule) {
		for _, verb := range []string{"get", "create", "update"} {
			right := plan.Permission{Verb: verb, Resource: gvr.GroupResource(), Namespace: a.account.Namespace, Name: name}
			if verb == "create" { // The API server does not know the name then.
				right.Name = ""
			}
			out = append(out, rules.Need{Permission: right, Rules: by})
		}
	}
	need(coordinationv1.SchemeGroupVersion.WithResource("leases"), instanceLease(a.instance), set.IDs())
	var kept []plan.Rule // in the inventory
	for _, leftover := range set.Leftovers() {
		kept = append(kept, leftover.Rule)
	}
	for _, rule := range set.Rules() {
		if rule.Limits() != nil {
			kept = append(kept, rule.ID)
		}
	}
	if len(kept) > 0 {
		need(inventory.GVR(), stored, kept)
	}
	for _, identity := range set.Identities() {
		if identity == (types.NamespacedName{}) || identity == a.account {
			continue
		}
		for _, verb := range []string{"get", "impersonate"} {
			right := plan.Permission{Verb: verb, Resource: schema.GroupResource{Resource: "serviceaccounts"}, Namespace: identity.Namespace, Name: identity.Name}
			out = append(out, rules.Need{Permission: right, Rules: set.Of(identity).IDs()})
		}
	}
	return out
}

// remark says what whoever uses the roles has to know.
func (a *authorization) remark(set *rules.Set) {
	nameless := set.Of(types.NamespacedName{})
	if a.account.Name == "" && len(nameless.Rules()) > 0 {
		var sets []string
		for _, rule := range nameless.IDs() {
			sets = append(sets, rule.SetName())
		}
		fmt.Fprintf(a.Stderr, "dyncontroller: no ServiceAccount is named by %s, so their roles are bound to none; name one with --service-account\n",
			strings.Join(slices.Compact(sets), ", "))
	}
	known := set.Kinds()
	var scopeless []string
	for _, selection := range slices.Concat(set.Selections(), set.Related()) {
		if _, knows := known[selection.GVR]; !knows {
			scopeless = append(scopeless, plan.ResourceName(selection.GVR))
		}
	}
	slices.Sort(scopeless)
	for _, resource := range slices.Compact(scopeless) {
		fmt.Fprintf(a.Stderr, "dyncontroller: whether %s have namespaces is not known; give their CRD with --crds, or a cluster with --context\n", resource)
	}
}
