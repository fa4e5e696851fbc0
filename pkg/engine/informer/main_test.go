package informer

import (
	"log/slog"
	"testing"

	"k8s.io/klog/v2"
)

// TestMain discards what client-go logs: by virtual clocks it says for hours that a watch is late.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	m.Run()
}
