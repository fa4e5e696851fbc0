package simulate

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

// Set are the rules of the test. It is for who plays its cases on another cluster.
func (t *Test) Set() *rules.Set { return t.set }

// Now is the instant at which the cases begin.
func (t *Test) Now() time.Time { return t.now }

// Definitions are those of custom resources that the cluster of a case has, with those
// that are guessed.
func (t *Test) Definitions() ([]*crd.Definition, error) { return t.definitions() }

// Objects reads those that are in the cluster when the case begins, as they are stored.
func (c *Case) Objects(files Files) ([]map[string]any, document.Errors) {
	found, errs := readObjects(c.objects, files)
	return contents(found), errs
}
