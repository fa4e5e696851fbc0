package operator

import (
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// TestMain has client-go not pause between the errors of all informers: a pause since an error of another virtual clock does not end.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil //nolint:reassign // It is a test.
	m.Run()
}
