package inventory

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// set is the set of a pause in a ConfigMap, which has many.
func (p pause) set() plan.Rule {
	return plan.Rule{Kind: p.SetKind, Namespace: p.SetNamespace, Set: p.Set}
}

// encodePause returns a pause as it is stored where its set is known.
func encodePause(p limit.Pause) v1alpha1.Pause {
	return v1alpha1.Pause{
		Rule: p.Rule.Name, Since: metav1.NewTime(p.Since), Digest: p.Digest, Objects: int64(p.Objects), Of: int64(p.Of),
		Limit: p.Limit, Per: p.Per, Asked: p.Asked,
	}
}

func decodePause(set plan.Rule, p v1alpha1.Pause) limit.Pause {
	set.Name = p.Rule
	return limit.Pause{
		Rule: set, Since: p.Since.UTC(), Digest: p.Digest, Objects: int(p.Objects), Of: int(p.Of),
		Limit: p.Limit, Per: p.Per, Asked: p.Asked,
	}
}

// checkPause holds that a pause says whose it is: a rule of which that is not known might
// go on.
func checkPause(id string, set plan.Rule, p v1alpha1.Pause) error {
	switch {
	case set.SetID() != id:
		return fmt.Errorf("it is of the set %q, which has another key", set.Set)
	case p.Rule == "" || p.Digest == "":
		return errors.New("it lacks the rule")
	default:
		return nil
	}
}

// encodeCount returns a count as it is stored where its set is known.
func encodeCount(c limit.Count) v1alpha1.Count {
	return v1alpha1.Count{Rule: c.Rule.Name, At: metav1.NewTime(c.At), Objects: c.Objects, Digest: c.Digest}
}

func decodeCount(set plan.Rule, c v1alpha1.Count) limit.Count {
	set.Name = c.Rule
	return limit.Count{Rule: set, At: c.At.UTC(), Objects: c.Objects, Digest: c.Digest}
}
