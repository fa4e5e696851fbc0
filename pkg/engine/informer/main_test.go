package informer

import (
	"log/slog"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// TestMain discards what client-go logs: by virtual clocks it says for hours that a watch is late. Nor does client-go pause between the
// errors of all informers: a pause since an error of another virtual clock does not end.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	utilruntime.ErrorHandlers = nil //nolint:reassign // It is a test.
	m.Run()
}
