package related

import (
	"crypto/sha256"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// digest stands for [plan.Read.Key], which is several times as long.
type digest [sha256.Size]byte

func digestOf(r plan.Read) digest { return sha256.Sum256([]byte(r.Key())) }

// question is what several askers may have asked in the same words.
type question[K comparable] struct {
	digest  digest
	from    []plan.Selection
	by      plan.By
	matches plan.Filter
	way     way
	askers  set[*record[K]]
}

type record[K comparable] struct {
	key   K
	asked set[*question[K]]
}

// keysOf returns each asker once.
func keysOf[K comparable](questions set[*question[K]]) []K {
	most := 0
	for q := range questions.all() {
		most = max(most, q.askers.len())
	}
	if most == 0 {
		return nil
	}
	out := make([]K, 0, most)
	seen := map[*record[K]]struct{}{}
	for q := range questions.all() {
		for a := range q.askers.all() {
			if questions.len() > 1 { // Nobody asks one question twice.
				if _, twice := seen[a]; twice {
					continue
				}
				seen[a] = struct{}{}
			}
			out = append(out, a.key)
		}
	}
	return out
}
