package action

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
)

// TestIsPlain: what is plain is a key and a value.
func TestIsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zA-Z0-9._/@\[{~ -]{0,3}[a-z.]{0,62}[a-zA-Z0-9._é-]{0,2}`).Draw(t, "text")
		if isPlain(text) && len(validation.IsQualifiedName(text))+len(validation.IsValidLabelValue(text)) > 0 {
			t.Fatalf("%q is plain", text)
		}
	})
	for _, text := range []string{"app", "a", "App.kubernetes_io-1"} {
		if !isPlain(text) {
			t.Errorf("%q is not plain", text)
		}
	}
}
