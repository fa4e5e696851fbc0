//go:build !operator

package cli

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// loadLive compiles rules by what the cluster says of their objects: of set objects the version in effect. Sets whose newest
// version may be another one are returned too. A file goes before a set object.
func (e *explaining) loadLive(ctx context.Context, target *cluster) (*rules.Set, doubtfuls, error) {
	options, err := offline(*e.params)
	if err != nil {
		return nil, nil, err
	}
	options.DefaultNamespace, options.Schemas = target.namespace, offlineSchemas()
	schemas := newClusterSchemas(target, nil, nil)
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
	objects, err := target.setObjects(ctx, "")
	if err != nil {
		return nil, nil, unread(err)
	}
	all, doubts := []*rules.Set{files}, doubtfuls{}
	for _, one := range objects {
		inFile := func(id plan.Rule) bool {
			return id.Kind == one.Kind && id.Namespace == one.Namespace && id.Set == one.Name
		}
		if slices.ContainsFunc(files.IDs(), inFile) {
			continue
		}
		options.Schemas, _ = schemas.Ask(ctx, one.Resources)
		newest, mistakes := rules.Load([]document.File{one.Document}, options)
		doubt, is := doubtOf(one, setstatus.Refusal(mistakes, nil), e.controller.base != nil)
		if is && e.controller.base != nil {
			if newest, err = e.controller.effective(ctx, one, &doubt, options); err != nil {
				return nil, nil, err
			}
			is = doubt.Refused != "" || doubt.InEffect != one.Generation
		} else if is && doubt.Explained == 0 {
			newest = nil
		}
		if is {
			doubts = append(doubts, doubt)
		}
		if newest != nil {
			all = append(all, newest)
		}
	}
	return rules.Join(all...), doubts, nil
}

// doubtful is a set object whose newest version may not be in effect.
type doubtful struct {
	trace.Set
	account types.NamespacedName // empty where it does not say so
}

type doubtfuls []doubtful

// of lists those of a ServiceAccount, and those that may be: their rules are evaluated together.
func (d doubtfuls) of(account types.NamespacedName) []trace.Set {
	var out []trace.Set
	for _, one := range d {
		if one.account == account || one.account.Name == "" {
			out = append(out, one.Set)
		}
	}
	return out
}

// doubtOf says what is known of the version in effect without the controller: by the mistakes of the newest version and by the
// status of the set. A set of which no controller has told anything is in doubt only if there is one to ask.
func doubtOf(one source.Object, mistakes string, asks bool) (out doubtful, is bool) {
	out = doubtful{trace.Set{Name: one.String(), Newest: one.Generation, Refused: mistakes, Unknown: true}, one.Account}
	judged, refused := one.Status.ObservedGeneration, ""
	if judged == one.Generation {
		refused = setstatus.RefusedIn(one.Status)
	}
	switch {
	case mistakes == "" && refused == "" && (judged == one.Generation || judged == 0 && !asks):
		return doubtful{}, false
	case mistakes == "":
		out.Explained = one.Generation
	case judged == one.Generation && refused == "": // The controller knows the resources better.
		out.Unknown, out.InEffect = false, judged
	}
	out.Refused = cmp.Or(refused, mistakes)
	return out, true
}

// effective asks the controller for the version in effect, and compiles it. It is nil where there is none.
func (c *controller) effective(ctx context.Context, one source.Object, doubt *doubtful, options rules.Options) (*rules.Set, error) {
	known, err := c.version(ctx, one.Key)
	if err != nil {
		return nil, err
	}
	doubt.Unknown, doubt.Explained, doubt.InEffect = false, 0, known.InEffect
	if known.Newest >= one.Generation { // It has seen what is here.
		doubt.Newest, doubt.Refused = known.Newest, known.Refused
	}
	if known.InEffect == 0 {
		return nil, nil
	}
	before, err := source.ParseObject(one.Key, known.Object)
	if err != nil {
		return nil, internal(err)
	}
	doubt.account, options.Unchecked = before.Account, true
	set, mistakes := rules.Load([]document.File{before.Document}, options)
	if wrong := mistakes.Of(document.Mistake); len(wrong) > 0 {
		return nil, internal(wrong) // The controller is of another version of the program.
	}
	doubt.Explained = known.InEffect
	return set, nil
}

// explainsRefused reports whether a set is that of the rule, and what is explained of it is refused.
func (s *subject) explainsRefused(set trace.Set) bool {
	return set.Name == s.rule.ID.SetName() && set.Explained == set.Newest && set.Unknown && set.Refused != ""
}
