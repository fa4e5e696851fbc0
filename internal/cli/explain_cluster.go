package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// ofCluster finds the rule and the object in a cluster.
func (e *explaining) ofCluster(ctx context.Context, args []string) (*rules.Set, *subject, error) {
	target, err := connect(e.cluster, e.version())
	if err != nil {
		return nil, nil, failure{exitUsage, err}
	}
	if err := target.reach(ctx); err != nil {
		return nil, nil, internal(err)
	}
	set, refused, err := e.loadLive(ctx, target)
	if err != nil {
		return nil, nil, err
	}
	out := &subject{}
	if out.rule, err = findRule(set, args[0]); err != nil {
		if len(refused) > 0 {
			// It may be in one of those.
			return nil, nil, failure{exitFinding, errors.Join(err, refused)}
		}
		return nil, nil, err
	}
	served, err := target.serves(ctx)
	if err != nil {
		return nil, nil, internal(err)
	}
	resource, name, err := parseObject(args[1])
	if err != nil {
		return nil, nil, err
	}
	if err := served.find(out, resource, name, target.namespace); err != nil {
		return nil, nil, failure{exitUsage, err}
	}
	if out.reader, err = live.NewReader(target.config); err != nil {
		return nil, nil, internal(err)
	}
	if err := target.review(ctx, set, out); err != nil {
		return nil, nil, err
	}
	out.memory, err = e.controller.remembered(ctx, out.object)
	return set, out, err
}

// loadLive compiles rules by what the cluster says of their objects. Set objects that are
// refused are left out, and what is wrong with them is returned.
func (e *explaining) loadLive(ctx context.Context, target *cluster) (*rules.Set, document.Errors, error) {
	options, err := offline(*e.params)
	if err != nil {
		return nil, nil, err
	}
	options.DefaultNamespace, options.Carries, options.Schemas = target.namespace, engine.Carries, offlineSchemas()
	schemas := newClusterSchemas(target)
	files := &rules.Set{}
	if len(e.rules) > 0 {
		if files, err = source.New(e.rules, e.Stdin, options).LoadAsking(ctx, schemas); err != nil {
			return nil, nil, err
		}
	}
	if !e.fromCluster {
		return files, nil, nil
	}
	options.Params = nil
	known := map[plan.Rule]bool{}
	for _, id := range files.IDs() {
		known[id.OfSet()] = true
	}
	documents, err := target.setObjects(ctx, known)
	if err != nil {
		return nil, nil, internal(err)
	}
	all, refused := []*rules.Set{files}, document.Errors{}
	for _, one := range documents {
		sets, _ := spec.Parse([]document.File{one}, "")
		options.Schemas, _ = schemas.Ask(ctx, declaredBy(sets))
		set, wrong := rules.Load([]document.File{one}, options)
		if wrong = wrong.Of(document.Mistake); len(wrong) > 0 {
			refused = append(refused, wrong...)
			continue
		}
		all = append(all, set)
	}
	return rules.Join(all...), refused, nil
}

// declaredBy lists the resources that sets declare.
func declaredBy(sets []*spec.Set) []schema.GroupVersionResource {
	var out []schema.GroupVersionResource
	for _, set := range sets {
		for _, resource := range set.Resources {
			out = append(out, resource.GVR)
		}
	}
	return out
}

// setObjects are the documents of the RuleSets and ClusterRuleSets of the cluster, but for
// those that files have as well.
func (c *cluster) setObjects(ctx context.Context, known map[plan.Rule]bool) ([]document.File, error) {
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		return nil, fmt.Errorf("making a client for rule sets: %w", err)
	}
	var out []document.File
	for _, kind := range []string{spec.KindClusterRuleSet, spec.KindRuleSet} {
		gvr := v1alpha1.ClusterRuleSets()
		if kind == spec.KindRuleSet {
			gvr = v1alpha1.RuleSets()
		}
		list, err := client.Resource(gvr).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", plan.ResourceName(gvr), err)
		}
		for i := range list.Items {
			key := source.Key{Kind: kind, Namespace: list.Items[i].GetNamespace(), Name: list.Items[i].GetName()}
			if !known[plan.Rule{Kind: key.Kind, Namespace: key.Namespace, Set: key.Name}] {
				out = append(out, source.DocumentOf(key, list.Items[i].Object))
			}
		}
	}
	return out, nil
}

// review finds out what the ServiceAccount of the rule may not do.
func (c *cluster) review(ctx context.Context, set *rules.Set, s *subject) error {
	account := s.rule.Identity()
	if account.Name == "" {
		return nil
	}
	reviewer, err := access.NewReviewer(c.config, account)
	if err != nil {
		return internal(err)
	}
	needs := map[plan.Permission]bool{}
	for _, need := range set.Of(account).Needs() {
		if slices.Contains(need.Rules, s.rule.ID) {
			needs[need.Permission] = true
		}
	}
	add := func(kind trace.Kind, format string, args ...any) {
		s.obstacles = append(s.obstacles, trace.Obstacle{Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	found, err := reviewer.Review(ctx, slices.SortedFunc(maps.Keys(needs), plan.Permission.Compare))
	var barred *access.ImpersonationError
	switch {
	case err != nil:
		add(trace.Unknown, "it cannot be found out what ServiceAccount %s may do: %v", account, err)
	case errors.As(found.Account, &barred):
		add(trace.Unknown, "you may not act as ServiceAccount %s, so it is not known what that may do", account)
	case found.Account != nil:
		add(trace.Forbidden, "%v", found.Account)
	}
	for _, missing := range found.Missing {
		add(trace.Forbidden, "ServiceAccount %s may not %s", account, missing)
	}
	return nil
}
