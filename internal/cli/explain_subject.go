package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// subject is a rule, and the object that it is to be explained for.
type subject struct {
	rule   *rules.Rule
	object plan.Object
	reader *live.Reader
	// unserved are resources that the API server does not have.
	unserved  map[schema.GroupVersionResource]bool
	obstacles []trace.Obstacle
	// memory is what the controller remembers, nil where it was not asked.
	memory *trace.Memory
}

// explain has all rules of the same identity evaluated, as the controller does.
func (s *subject) explain(ctx context.Context, set *rules.Set, now time.Time) (trace.Trace, error) {
	own := set.Of(s.rule.Identity())
	reads := &liveSource{ctx: ctx, subject: s}
	snapshot := rules.Snapshot{
		GVR: s.object.GVR, Gone: s.object, Now: now, Kinds: s.kinds(own), Related: reads, State: s.state(),
	}
	if err := s.see(ctx, own, &snapshot); err != nil {
		return trace.Trace{}, err
	}
	out := own.Explain(snapshot, s.rule.ID)
	if reads.err != nil {
		return trace.Trace{}, internal(reads.err)
	}
	if slices.ContainsFunc(s.obstacles, unseen) {
		// It cannot be said that there is none.
		out.Obstacles = slices.DeleteFunc(out.Obstacles, func(o trace.Obstacle) bool { return o.Kind == trace.NoObject })
		out.Decision, out.Condition, out.Actions, out.Requests = trace.Decision{}, trace.Condition{}, nil, nil
	}
	out.Obstacles = slices.Concat(s.obstacles, out.Obstacles)
	out.Controller = s.memory
	return out, nil
}

// kinds are those that the rules know, and guesses of those that are not served: what is
// read of them is not known in any case.
func (s *subject) kinds(own *rules.Set) map[schema.GroupVersionResource]plan.Kind {
	out := map[schema.GroupVersionResource]plan.Kind{}
	for gvr := range s.unserved {
		out[gvr] = plan.Kind{Name: gvr.Resource, Namespaced: true}
	}
	maps.Copy(out, own.Kinds())
	return out
}

// unseen reports whether something keeps us from seeing the object itself.
func unseen(o trace.Obstacle) bool { return o.Kind == cannotSee.Kind && o.Text == cannotSee.Text }

// cannotSee stands for an object that could not be read.
var cannotSee = trace.Obstacle{Kind: trace.Unknown, Text: "the object was not seen, so the rule cannot be asked"}

// state is what the controller remembers that decides something.
func (s *subject) state() rules.State {
	out := rules.State{HeldSince: map[plan.Rule]time.Time{}}
	if s.memory != nil {
		for _, record := range s.memory.Records {
			if !record.HeldSince.IsZero() {
				out.HeldSince[record.Rule.ID()] = record.HeldSince
			}
		}
	}
	return out
}

// see reads the object, and which selections have it.
func (s *subject) see(ctx context.Context, own *rules.Set, snapshot *rules.Snapshot) error {
	if s.unserved[s.object.GVR] {
		s.obstacles = append(s.obstacles, cannotSee)
		return nil
	}
	var err error
	snapshot.Object, err = s.reader.Get(ctx, s.object.GVR, s.object.Namespace, s.object.Name)
	if err != nil {
		return s.blocked(err, cannotSee)
	}
	if snapshot.Object == nil {
		return nil
	}
	for _, selection := range own.Selections() {
		if selection.GVR != s.object.GVR {
			continue
		}
		has, err := s.selects(ctx, selection)
		if err != nil {
			if err := s.blocked(err); err != nil {
				return err
			}
			has = selection.Admits(snapshot.Object) // The API server would know better.
		}
		if has {
			snapshot.SelectedBy = append(snapshot.SelectedBy, selection)
		} else {
			snapshot.LeftBy = append(snapshot.LeftBy, selection)
		}
	}
	return nil
}

// selects asks the API server whether a selection has the object.
func (s *subject) selects(ctx context.Context, selection plan.Selection) (bool, error) {
	switch {
	case selection.Namespace != "" && selection.Namespace != s.object.Namespace:
		return false, nil
	case selection.LabelSelector == "" && selection.FieldSelector == "":
		return true, nil
	}
	found, err := s.reader.Read(ctx, plan.Read{
		From: []plan.Selection{selection}, Namespace: s.object.Namespace, By: plan.ByName, Names: []string{s.object.Name},
	})
	return len(found) > 0, err
}

// blocked takes what the API server refuses for an obstacle, and anything else for a
// reason to give up.
func (s *subject) blocked(err error, more ...trace.Obstacle) error {
	kind := trace.Unknown
	switch {
	case apierrors.IsForbidden(err):
		kind = trace.Forbidden
	case apierrors.IsNotFound(err):
		kind = trace.NoResource
	case apierrors.IsBadRequest(err), apierrors.IsInvalid(err):
	default:
		return internal(err)
	}
	s.obstacles = append(append(s.obstacles, trace.Obstacle{Kind: kind, Text: err.Error()}), more...)
	return nil
}

// liveSource answers the questions of rules from the API server. What it refuses is to
// them as a cache that is not complete, which is what the controller has then.
type liveSource struct {
	*subject
	ctx     context.Context //nolint:containedctx // [relation.Source] takes none, and this is of one evaluation.
	answers map[string][]map[string]any
	err     error // why it is no use to go on
}

// Read implements [relation.Source].
func (l *liveSource) Read(q plan.Read) ([]map[string]any, error) {
	key := q.Key()
	if found, known := l.answers[key]; known {
		return found, nil
	}
	if len(q.From) > 0 && l.unserved[q.From[0].GVR] {
		return nil, fmt.Errorf("%w: there is no %s", relation.ErrNotSynced, plan.ResourceName(q.From[0].GVR))
	}
	found, err := l.reader.Read(l.ctx, q)
	if err != nil {
		if fatal := l.blocked(err); fatal != nil {
			l.err = fatal
		}
		return nil, fmt.Errorf("%w: %w", relation.ErrNotSynced, err)
	}
	if l.answers == nil {
		l.answers = map[string][]map[string]any{}
	}
	l.answers[key] = found
	return found, nil
}
