package compare_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
)

// TestUnified holds that hunks say the lines of both sides where they have several changes.
func TestUnified(t *testing.T) {
	before := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n"
	after := strings.NewReplacer("b\n", "", "d\n", "D\nE\n", "m\n", "M\n").Replace(before)
	want := `--- x
+++ y
@@ -1,7 +1,7 @@
 a
-b
 c
-d
+D
+E
 e
 f
 g
@@ -10,4 +10,4 @@
 j
 k
 l
-m
+M
`
	if diff := cmp.Diff(want, compare.Unified("x", "y", before, after)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if same := compare.Unified("x", "y", before, before); same != "" {
		t.Errorf("nothing differs, and it says %q", same)
	}
}
