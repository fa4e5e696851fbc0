package rules

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Feature is a part of the language that takes more than evaluating a rule, so
// that not all that runs rules has it.
type Feature string

// The features. Every kind of action is one, under its name.
const (
	FeaturePatch    Feature = "patch"
	FeatureEvent    Feature = "event"
	FeatureWith     Feature = "with"
	FeatureOnDelete Feature = "onDelete"
	FeatureLimits   Feature = "limits"
	FeatureRelease  Feature = "release"
	FeatureIdentity Feature = "serviceAccountName"
	FeatureApply    Feature = "apply"
	FeatureCreate   Feature = "create"
	FeatureDelete   Feature = "delete"
)

// use is a feature and where a rule asks for it, nil where it does not.
type use struct {
	feature Feature
	key     *document.Node
}

func (r *Rule) uses() []use {
	asks := func(n *document.Node, feature Feature) use { return use{feature, n.Key(string(feature))} }
	out := []use{asks(r.set.Node().Get("spec"), FeatureIdentity)}
	for _, feature := range []Feature{FeatureWith, FeatureOnDelete, FeatureLimits} {
		out = append(out, asks(r.source.Node(), feature))
	}
	actions := r.source.Actions
	if r.source.OnDelete != nil {
		actions = slices.Concat(actions, r.source.OnDelete.Actions)
	}
	for _, n := range actions {
		out = append(out, asks(n.Get("patch"), FeatureRelease))
		for _, kind := range action.Kinds() {
			out = append(out, asks(n, Feature(kind)))
		}
	}
	return out
}

// notCarried returns an error for each feature that whoever runs the rules lacks,
// where the rule first uses it.
func (r *Rule) notCarried(options Options) document.Errors {
	if options.Carries == nil {
		return nil
	}
	var errs document.Errors
	told := map[Feature]bool{}
	lacking, hint := options.lacking()
	for _, u := range r.uses() {
		if u.key != nil && !options.Carries(u.feature) && !told[u.feature] {
			told[u.feature] = true
			errs = append(errs, u.key.Errorf(hint, "field %q is not supported yet%s", string(u.feature), lacking).Coded(document.CodeNotSupported))
		}
	}
	return errs
}

// lacking says by whom a feature is not supported, and what to do about it. What only
// some lack is not to be removed from a rule that others run.
func (o Options) lacking() (by, hint string) {
	if o.Runner == "" {
		return ", except by validate", "remove it"
	}
	return " by " + o.Runner, "leave its file out there"
}

// NotCarried returns an error for each feature of each rule that whoever runs the
// rules lacks, as [Load] would with these options.
func (s *Set) NotCarried(carries func(Feature) bool) document.Errors {
	var errs document.Errors
	for _, rule := range s.rules {
		errs = append(errs, rule.notCarried(Options{Carries: carries})...)
	}
	return errs.Sorted()
}
