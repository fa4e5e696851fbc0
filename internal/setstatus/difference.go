package setstatus

import (
	"encoding/json"
	"fmt"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// difference is how much two statuses differ, but for what the inventory keeps.
type difference uint8

const (
	none     difference = iota
	counters            // only numbers and errors of rules
	whole
)

// compare tells nothing that is absent from something empty.
func compare(a, b v1alpha1.Status) difference {
	a, b = told(a), told(b)
	if apiequality.Semantic.DeepEqual(a, b) {
		return none
	}
	a.Rules, b.Rules = uncounted(a.Rules), uncounted(b.Rules)
	if apiequality.Semantic.DeepEqual(a, b) {
		return counters
	}
	return whole
}

// told is a status without what the inventory keeps: that is for others to write.
func told(status v1alpha1.Status) v1alpha1.Status {
	status.Inventory, status.Paused, status.Counted = nil, nil, nil
	return status
}

func uncounted(all []v1alpha1.RuleStatus) []v1alpha1.RuleStatus {
	out := slices.Clone(all)
	for i := range out {
		out[i].Matched, out[i].Writes, out[i].Errors, out[i].LastError = 0, 0, 0, ""
		out[i].Quarantined, out[i].Contested = 0, 0
	}
	return out
}

// patch returns the merge patch that makes the status of an update be what is wanted,
// on nothing but the version of the object that it was decided by. What the inventory keeps and
// what else a newer program may have written stay as they are.
func patch(uid, version string, have, want v1alpha1.Status) ([]byte, error) {
	before, err := fields(have)
	if err != nil {
		return nil, err
	}
	after, err := fields(want)
	if err != nil {
		return nil, err
	}
	status := map[string]any{}
	for key := range before {
		if _, kept := after[key]; !kept {
			status[key] = nil
		}
	}
	for key, value := range after {
		if was, there := before[key]; !there || !apiequality.Semantic.DeepEqual(was, value) {
			status[key] = value
		}
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": uid, "resourceVersion": version}, "status": status,
	})
}

// fields are those of a status, as JSON has them, without what the inventory keeps.
func fields(status v1alpha1.Status) (map[string]any, error) {
	data, err := json.Marshal(told(status))
	if err != nil {
		return nil, fmt.Errorf("encoding a status: %w", err)
	}
	var out map[string]any
	return out, json.Unmarshal(data, &out)
}
