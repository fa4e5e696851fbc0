//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// subject is a rule, and the object that it is to be explained for.
type subject struct {
	rule   *rules.Rule
	object plan.Object
	reader *live.Reader
	// served is what the API server serves, and failed are the group-versions of which it cannot say so.
	served []metav1.APIResource
	failed map[schema.GroupVersion]error
	// unserved are resources of the rule that the API server does not have.
	unserved  map[schema.GroupVersionResource]bool
	obstacles []trace.Obstacle
	// answers are what the rules have read of the cluster, by the question, and objects the object in the versions that were read, nil
	// where there is none.
	answers map[string][]map[string]any
	objects map[schema.GroupVersionResource]map[string]any
	// unseen says that the object itself could not be read, which is among the obstacles.
	unseen bool
	// forbidden says that the caller may not read the object, or another one that the rule reads.
	forbidden bool
	// sets are those of the same ServiceAccount whose newest version may not be in effect.
	sets []trace.Set
	// memory is what the controller remembers, nil where it was not asked.
	memory *trace.Memory
}

func (s *subject) obstacle(kind trace.Kind, format string, args ...any) {
	s.obstacles = append(s.obstacles, trace.Obstacle{Kind: kind, Text: fmt.Sprintf(format, args...)})
}

func gvrOf(r metav1.APIResource) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Name}
}

// reached is a cluster whose API server answers.
func (p Process) reached(ctx context.Context, c config.Cluster) (*cluster, error) {
	target, err := p.connect(c)
	if err != nil {
		return nil, failure{exitUsage, err}
	}
	if err := target.reach(ctx); err != nil {
		return nil, internal(err)
	}
	return target, nil
}

// locate finds the object that the user means, of a resource that is watched if it can be.
func (c *cluster) locate(ctx context.Context, written string, watched []schema.GroupVersionResource) (*subject, error) {
	resource, name, err := parseObject(written)
	if err != nil {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	at := &subject{}
	if at.served, at.failed, err = discovery.Resources(asking, c.discovery); err != nil {
		return nil, internal(fmt.Errorf("asking the API server at %s what it serves: %w", c, err))
	}
	at.served = slices.DeleteFunc(at.served, func(r metav1.APIResource) bool { return strings.Contains(r.Name, "/") })
	if err := at.find(watched, resource, name, c.namespace); err != nil {
		return nil, failure{exitUsage, err}
	}
	if at.reader, err = live.NewReader(c.config); err != nil {
		return nil, internal(err)
	}
	return at, nil
}

// unread is why something could not be read. That the user may not read it is no failure of the cluster.
func unread(err error) error {
	if apierrors.IsForbidden(err) {
		return failure{exitUsage, err}
	}
	return internal(err)
}

// get reads the object, which must be there.
func (s *subject) get(ctx context.Context) (map[string]any, error) {
	object, err := s.reader.Get(ctx, s.object.GVR, s.object.Namespace, s.object.Name)
	switch {
	case err != nil:
		return nil, unread(err)
	case object == nil:
		return nil, failure{exitUsage, fmt.Errorf("there is no %s in the cluster%s", s.object, s.elsewhere(ctx))}
	}
	return object, nil
}

// elsewhere says in which other namespaces there is an object of that name, as far as the user may know.
func (s *subject) elsewhere(ctx context.Context) string {
	if s.object.Namespace == "" {
		return ""
	}
	var found []string
	named := fields.OneTermEqualSelector("metadata.name", s.object.Name).String()
	_ = s.reader.List(ctx, plan.Selection{GVR: s.object.GVR, FieldSelector: named}, func(object map[string]any) error { // Else nothing is said.
		found = append(found, plan.Text(object, "metadata", "namespace"))
		return nil
	})
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf("; there is one in %s: add -n %s", strings.Join(found[:min(3, len(found))], ", "), found[0])
}

var errFirst = errors.New("the first one is enough")

// first reads the first object of the resource, whatever its name, in the namespace.
func (s *subject) first(ctx context.Context) (object map[string]any, err error) {
	err = s.reader.List(ctx, plan.Selection{GVR: s.object.GVR, Namespace: s.object.Namespace}, func(found map[string]any) error {
		object = found
		return errFirst
	})
	resource := plan.ResourceName(s.object.GVR)
	switch {
	case object != nil:
		return object, nil
	case err != nil:
		return nil, unread(err)
	case s.object.Namespace != "":
		return nil, failure{exitUsage, fmt.Errorf("there are no %s in the namespace %s; say with -n in which one there are", resource, s.object.Namespace)}
	default:
		return nil, failure{exitUsage, fmt.Errorf("there are no %s in the cluster", resource)}
	}
}

// serves reports whether the API server does.
func (s *subject) serves(gvr schema.GroupVersionResource) bool {
	return slices.ContainsFunc(s.served, func(r metav1.APIResource) bool { return gvrOf(r) == gvr })
}

// missing tells which resources of the rule are not served.
func (s *subject) missing() {
	s.unserved = map[schema.GroupVersionResource]bool{}
	look := func(gvr schema.GroupVersionResource, what string) {
		if s.unserved[gvr] || s.serves(gvr) {
			return
		}
		s.unserved[gvr] = true
		for gv, cause := range s.failed {
			if gv.Group == gvr.Group {
				s.obstacle(trace.NoResource, "the API server cannot say whether it serves %s, which the rule %s: %v", plan.ResourceName(gvr), what, cause)
				return
			}
		}
		s.obstacle(trace.NoResource, "the API server does not serve %s, which the rule %s: its CRD is not installed, or does not have this version; the rule waits for it",
			plan.ResourceName(gvr), what)
	}
	for _, gvr := range s.rule.Watched() {
		look(gvr, "watches")
	}
	for _, selection := range s.rule.Related() {
		look(selection.GVR, "reads")
	}
}

// find takes a word as kubectl does: for the plural, the singular, the kind or a short name of a resource, with its group
// or without. A version that is watched goes before others. What is not served may be what the rule waits for.
func (s *subject) find(watched []schema.GroupVersionResource, word, name, namespace string) error {
	s.object = plan.Object{Name: name}
	var found *metav1.APIResource
	best := -1
	for i, r := range s.served {
		gvr := gvrOf(r)
		if !means(word, gvr, append([]string{r.SingularName, r.Kind}, r.ShortNames...)...) {
			continue
		}
		rank := 0
		if slices.Contains(watched, gvr) {
			rank = 2
		} else if slices.ContainsFunc(watched, func(w schema.GroupVersionResource) bool { return w.GroupResource() == gvr.GroupResource() }) {
			rank = 1
		}
		if rank > best { // Of the others, what is in a preferred version comes first.
			found, best = &s.served[i], rank
		}
	}
	if found != nil {
		s.object.GVR, s.object.Kind = gvrOf(*found), found.Kind
		if found.Namespaced {
			s.object.Namespace = namespace
		}
		return nil
	}
	for _, gvr := range watched {
		if means(word, gvr, strings.TrimSuffix(gvr.Resource, "s"), strings.TrimSuffix(gvr.Resource, "es")) {
			s.object.GVR, s.object.Namespace = gvr, namespace
			return nil
		}
	}
	var names []string
	for _, r := range s.served {
		names = append(names, r.Name)
	}
	resource, _, _ := strings.Cut(word, ".")
	return fmt.Errorf("the API server has no resource %q%s", word, meant("", resource, names))
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
	found, err := reviewer.Review(ctx, slices.SortedFunc(maps.Keys(needs), plan.Permission.Compare))
	_, barred := errors.AsType[*access.ImpersonationError](found.Account)
	switch {
	case err != nil:
		s.obstacle(trace.Unknown, "it cannot be found out what ServiceAccount %s may do: %v", account, err)
	case barred:
		s.obstacle(trace.Unknown, "you may not act as ServiceAccount %s, so it is not known what that may do", account)
	case found.Account != nil:
		s.obstacle(trace.Forbidden, "%v", found.Account)
	}
	for _, missing := range found.Missing {
		s.obstacle(trace.Forbidden, "ServiceAccount %s may not %s", account, missing)
	}
	return nil
}

// explain has all rules of the same identity evaluated, as the controller does.
func (s *subject) explain(ctx context.Context, set *rules.Set, now time.Time) (trace.Trace, error) {
	own := set.Of(s.rule.Identity())
	// The kinds of what is not served are guesses: what is read of them is not known in any case.
	kinds := map[schema.GroupVersionResource]plan.Kind{}
	for gvr := range s.unserved {
		kinds[gvr] = plan.Kind{Name: gvr.Resource, Namespaced: true}
	}
	maps.Copy(kinds, own.Kinds())
	state := rules.State{HeldSince: map[plan.Rule]time.Time{}}
	if s.memory != nil {
		for _, record := range s.memory.Records {
			if !record.HeldSince.IsZero() {
				state.HeldSince[record.Rule] = record.HeldSince
			}
		}
	}
	reads := &liveSource{ctx: ctx, subject: s}
	snapshot := rules.Snapshot{GVR: s.object.GVR, Gone: s.object, Now: now, Kinds: kinds, Related: reads, State: state}
	if err := s.see(ctx, own, &snapshot); err != nil {
		return trace.Trace{}, err
	}
	if s.unseen {
		s.obstacle(trace.Unknown, "the object was not seen, so the rule cannot be asked")
	}
	out := own.Explain(snapshot, s.rule.ID)
	if reads.err != nil {
		return trace.Trace{}, internal(reads.err)
	}
	if s.unseen {
		// It cannot be said that there is none.
		out.Obstacles = slices.DeleteFunc(out.Obstacles, func(o trace.Obstacle) bool { return o.Kind == trace.NoObject })
		out.Decision, out.Condition, out.Actions, out.Requests = trace.Decision{}, trace.Condition{}, nil, nil
	}
	if limits := s.rule.Limits(); s.memory == nil && len(out.Requests) > 0 && out.Decision.Outcome == plan.Matched && !s.rule.Audited() {
		switch {
		case s.rule.Rollout() != nil:
			s.obstacle(trace.Unknown, "the rule comes in waves: dyncontroller report, or --controller, tells whether it is the object's turn, and whether the rule is paused")
		case limits != nil && !limits.Everything():
			s.obstacle(trace.Unknown, "the rule has limits: dyncontroller report, or --controller, tells whether it is paused")
		}
	}
	out.Obstacles = slices.Concat(s.obstacles, out.Obstacles)
	out.Controller, out.Sets = s.memory, s.sets
	return out, nil
}

// see reads the object, and which selections have it.
func (s *subject) see(ctx context.Context, own *rules.Set, snapshot *rules.Snapshot) (err error) {
	if s.unseen = s.unserved[s.object.GVR]; s.unseen {
		return nil
	}
	object, known := s.objects[s.object.GVR]
	if !known {
		if object, err = s.reader.Get(ctx, s.object.GVR, s.object.Namespace, s.object.Name); err != nil {
			s.unseen = true
			return s.blocked(err)
		}
		s.objects[s.object.GVR] = object
	}
	snapshot.Object = object
	if snapshot.Object == nil {
		return nil
	}
	for _, selection := range own.Selections() {
		if selection.GVR != s.object.GVR {
			continue
		}
		has := selection.Namespace == "" || selection.Namespace == s.object.Namespace
		if has && (selection.LabelSelector != "" || selection.FieldSelector != "") {
			found, err := s.reader.Read(ctx, plan.Read{
				From: []plan.Selection{selection}, Namespace: s.object.Namespace, By: plan.ByName, Names: []string{s.object.Name},
			})
			has = len(found) > 0
			if err != nil {
				if err := s.blocked(err); err != nil {
					return err
				}
				has = selection.Admits(snapshot.Object) // The API server would know better.
			}
		}
		if has {
			snapshot.SelectedBy = append(snapshot.SelectedBy, selection)
		} else {
			snapshot.LeftBy = append(snapshot.LeftBy, selection)
		}
	}
	return nil
}

// blocked takes what the API server refuses for an obstacle, and anything else for a
// reason to give up.
func (s *subject) blocked(err error) error {
	kind := trace.Unknown
	switch {
	case apierrors.IsForbidden(err):
		kind, s.forbidden = trace.Forbidden, true
	case apierrors.IsNotFound(err):
		kind = trace.NoResource
	case apierrors.IsBadRequest(err), apierrors.IsInvalid(err):
	default:
		return internal(err)
	}
	s.obstacle(kind, "%v", err)
	return nil
}

// liveSource answers the questions of rules from the API server. What it refuses is to
// them as a cache that is not complete, which is what the controller has then.
type liveSource struct {
	*subject
	ctx context.Context //nolint:containedctx // [lookup.Source] takes none, and this is of one evaluation.
	err error           // why it is no use to go on
}

// Read implements [lookup.Source].
func (l *liveSource) Read(q plan.Read) ([]map[string]any, error) {
	key := q.Key()
	if found, known := l.answers[key]; known {
		return found, nil
	}
	if len(q.From) > 0 && l.unserved[q.From[0].GVR] {
		return nil, fmt.Errorf("%w: there is no %s", lookup.ErrNotSynced, plan.ResourceName(q.From[0].GVR))
	}
	found, err := l.reader.Read(l.ctx, q)
	if err != nil {
		if fatal := l.blocked(err); fatal != nil {
			l.err = fatal
		}
		return nil, fmt.Errorf("%w: %w", lookup.ErrNotSynced, err)
	}
	l.answers[key] = found
	return found, nil
}
