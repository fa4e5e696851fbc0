package inventory

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// encodeStatus returns a book as it is in a status, where the set is known.
func encodeStatus(b Book) []v1alpha1.Leftover {
	out := make([]v1alpha1.Leftover, len(b.leftovers))
	for i, l := range b.leftovers {
		out[i] = v1alpha1.Leftover{
			Rule: l.Rule.Name, Kind: string(l.Kind), Group: l.GVR.Group, Version: l.GVR.Version, Resource: l.GVR.Resource,
			Namespace: l.Namespace, Release: string(l.Release), Prune: l.Prune,
			ServiceAccount: l.Account.Name, ServiceAccountNamespace: l.Account.Namespace,
		}
	}
	return out
}

// encodePaused returns the pauses of a book as they are in a status, nil for none.
func encodePaused(b Book) []v1alpha1.Pause {
	var out []v1alpha1.Pause
	for _, p := range b.pauses {
		out = append(out, encodePause(p))
	}
	return out
}

// encodeCounted returns the counts of a book as they are in a status, nil for none.
func encodeCounted(b Book) []v1alpha1.Count {
	var out []v1alpha1.Count
	for _, c := range b.counts {
		out = append(out, encodeCount(c))
	}
	return out
}

// decodeCounted reads what encodeCounted has written.
func decodeCounted(set plan.Rule, list any) ([]limit.Count, error) {
	var stored []v1alpha1.Count
	if err := decodeList(list, &stored); err != nil {
		return nil, err
	}
	var out []limit.Count
	for _, c := range stored {
		out = append(out, decodeCount(set, c))
	}
	return out, nil
}

// decodePaused reads what encodePaused has written.
func decodePaused(set plan.Rule, list any) ([]limit.Pause, error) {
	var stored []v1alpha1.Pause
	if err := decodeList(list, &stored); err != nil {
		return nil, err
	}
	var out []limit.Pause
	for i, p := range stored {
		if err := checkPause(set.SetID(), set, p); err != nil {
			return nil, fmt.Errorf("pause %d: %w", i, err)
		}
		out = append(out, decodePause(set, p))
	}
	return out, nil
}

func decodeList(list, into any) error {
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// decodeStatus reads what encodeStatus has written. It is an error not to understand a
// part: what is not known cannot be cleaned up, and would be forgotten. What the set
// cannot have left is not in the book.
func decodeStatus(set plan.Rule, list any) (Book, error) {
	var stored []v1alpha1.Leftover
	if err := decodeList(list, &stored); err != nil {
		return Book{}, err
	}
	var all []plan.Leftover
	for i, s := range stored {
		if !s.Within(set.Namespace) {
			continue
		}
		left := leftoverOf(set, s)
		if err := entryOf(left).check(set.SetID()); err != nil {
			return Book{}, fmt.Errorf("leftover %d: %w", i, err)
		}
		all = append(all, left)
	}
	return NewBook(all...), nil
}

func leftoverOf(set plan.Rule, s v1alpha1.Leftover) plan.Leftover {
	set.Name = s.Rule
	return plan.Leftover{
		Rule:      set,
		GVR:       schema.GroupVersionResource{Group: s.Group, Version: s.Version, Resource: s.Resource},
		Namespace: s.Namespace, Kind: plan.LeftoverKind(s.Kind), Release: plan.ReleasePolicy(s.Release), Prune: s.Prune,
		Account: types.NamespacedName{Namespace: s.ServiceAccountNamespace, Name: s.ServiceAccount},
	}
}
