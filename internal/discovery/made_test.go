package discovery

import (
	"slices"
	"sync"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// TestResourceIsMadeOnce holds that workers, who ask with every object that they write,
// all get the same, and soon.
func TestResourceIsMadeOnce(t *testing.T) {
	source := ask(t, &apiServer{}, pods)
	got := make([]*schema.Resource, 8)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = source.Resource(pods) })
	}
	all.Wait()
	if slices.ContainsFunc(got, func(r *schema.Resource) bool { return r == nil || r != got[0] }) {
		t.Errorf("got %v", got)
	}
	known := schema.NewCatalog(source, builtin.Source())
	for _, gvr := range []apischema.GroupVersionResource{pods, metrics} {
		known.Resource(gvr)
		if n := testing.AllocsPerRun(100, func() { known.Resource(gvr) }); n > 2 {
			t.Errorf("%s takes %v allocations", gvr, n)
		}
	}
}
