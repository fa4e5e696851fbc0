package lookup_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/test/archive"
)

// TestWrong makes every mistake that an entry of with can have, in the archives of package rules.
func TestWrong(t *testing.T) {
	archive.Wrong(t, rules.Options{DefaultNamespace: "default"}, "wrong/with*")
}
