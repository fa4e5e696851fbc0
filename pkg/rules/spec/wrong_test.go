package spec_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/test/archive"
)

// TestWrong makes the mistakes that a set can have, in the archives of package rules.
func TestWrong(t *testing.T) {
	archive.Wrong(t, rules.Options{DefaultNamespace: "default"}, "wrong/document*", "wrong/resources*", "wrong/rule*", "wrong/set*")
}
