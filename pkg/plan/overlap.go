package plan

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Overlaps reports whether an object can be in both selections. It may miss that none can,
// never that one can.
func (s Selection) Overlaps(other Selection) bool {
	if s.GVR != other.GVR || s.Namespace != "" && other.Namespace != "" && s.Namespace != other.Namespace {
		return false
	}
	return compatibleFields(s.FieldSelector, other.FieldSelector) && compatibleLabels(s.LabelSelector, other.LabelSelector)
}

func compatibleLabels(a, b string) bool {
	one, errOne := labels.ParseToRequirements(a)
	other, errOther := labels.ParseToRequirements(b)
	if errOne != nil || errOther != nil {
		return true
	}
	for _, r := range one {
		for _, s := range other {
			if r.Key() == s.Key() && apart(r, s) {
				return false
			}
		}
	}
	return true
}

// apart reports whether no value of a label satisfies both.
func apart(r, s labels.Requirement) bool {
	if needs(s) {
		r, s = s, r
	}
	switch {
	case s.Operator() == selection.DoesNotExist:
		return needs(r)
	case !chooses(r):
		return false
	case chooses(s):
		return r.Values().Intersection(s.Values()).Len() == 0
	default:
		return excludes(s) && r.Values().Difference(s.Values()).Len() == 0
	}
}

// chooses reports whether a requirement lists the values that a label may have.
func chooses(r labels.Requirement) bool {
	return slices.Contains([]selection.Operator{selection.In, selection.Equals, selection.DoubleEquals}, r.Operator())
}

// excludes reports whether it lists those that a label may not have.
func excludes(r labels.Requirement) bool {
	return r.Operator() == selection.NotIn || r.Operator() == selection.NotEquals
}

// needs reports whether there has to be a label.
func needs(r labels.Requirement) bool { return chooses(r) || r.Operator() == selection.Exists }

func compatibleFields(a, b string) bool {
	one, errOne := fields.ParseSelector(a)
	other, errOther := fields.ParseSelector(b)
	if errOne != nil || errOther != nil {
		return true
	}
	for _, r := range one.Requirements() {
		for _, s := range other.Requirements() {
			if r.Field == s.Field && fieldsApart(r, s) {
				return false
			}
		}
	}
	return true
}

// fieldsApart reports whether no value of a field satisfies both. Where nothing is stored,
// the field of a built-in type is both empty and false.
func fieldsApart(r, s fields.Requirement) bool {
	none := func(v string) bool { return v == "" || v == strconv.FormatBool(false) }
	same := r.Value == s.Value
	switch excludes := r.Operator == selection.NotEquals; {
	case excludes != (s.Operator == selection.NotEquals):
		return same
	case excludes:
		return false
	default:
		return !same && (!none(r.Value) || !none(s.Value))
	}
}
