package inventory

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
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

// decodeStatus reads what encodeStatus has written. It is an error not to understand a
// part: what is not known cannot be cleaned up, and would be forgotten. What the set
// cannot have left is not in the book.
func decodeStatus(set plan.Rule, list any) (Book, error) {
	data, err := json.Marshal(list)
	if err != nil {
		return Book{}, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var stored []v1alpha1.Leftover
	if err := decoder.Decode(&stored); err != nil {
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
