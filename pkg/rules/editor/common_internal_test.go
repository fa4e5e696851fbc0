package editor

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// TestCommonResources holds the list against Kubernetes.
func TestCommonResources(t *testing.T) {
	for _, gvr := range commonResources() {
		if found := builtin.Source().Resource(gvr); found == nil || !found.Type.Known() {
			t.Errorf("%s is not built in", gvr)
		}
	}
}
