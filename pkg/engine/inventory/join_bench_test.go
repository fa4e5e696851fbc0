package inventory_test

import (
	"fmt"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// manySets are sets of one account, and all that their rules leave.
func manySets(n int) (parts inventory.Parts, leaves []plan.Leftover) {
	parts = inventory.Parts{Sets: map[plan.Rule]inventory.Part{}, Rest: &inventory.Memory{}}
	for i := range n {
		name := fmt.Sprintf("set-%04d", i)
		parts.Sets[setNamed(name)] = &inventory.Memory{}
		leaves = append(leaves, leftovers(name+"/a finalizer pods.v1", name+"/b children pods.v1 prune")...)
	}
	return parts, leaves
}

// BenchmarkJoin has to be linear in the sets of an account: each adds the same to the time of an update.
func BenchmarkJoin(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			parts, leaves := manySets(n)
			store := inventory.Join(func() inventory.Parts { return parts })
			for b.Loop() {
				book, err := inventory.Update(b.Context(), store, func(before inventory.Book) inventory.Book { return before.With(leaves...) })
				if err != nil || len(book.All()) != len(leaves) {
					b.Fatal(err, len(book.All()))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/set")
		})
	}
}
