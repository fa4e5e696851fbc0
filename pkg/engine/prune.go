package engine

import (
	"fmt"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// pruned is what to clean up of sets that are gone; of the others it tells.
func (h *housekeeper) pruned(gone inventory.Book) []plan.Leftover {
	var out, rest []plan.Leftover
	for _, leftover := range gone.All() {
		if prune := h.engine.options.Housekeeping.Prune; prune != nil && prune(leftover.Rule.OfSet()) {
			out = append(out, leftover)
		} else {
			rest = append(rest, leftover)
		}
	}
	h.tell(rest)
	return out
}

// tell logs which sets are gone that may have left something, once.
func (h *housekeeper) tell(gone []plan.Leftover) {
	var sets []string
	for _, leftover := range gone {
		if name := leftover.Rule.Set; !slices.Contains(sets, name) {
			sets = append(sets, name)
		}
	}
	if told := fmt.Sprint(sets); told != h.told && len(sets) > 0 {
		h.told = told
		h.engine.options.Log.Warn("sets are gone that may have left something: run with --prune, or clean up", "sets", sets)
	}
}
