package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// errSensitive is why something is not cleaned up that only an administrator may allow.
var errSensitive = errors.New("must be allowed where the rules run")

// permitted shows a cleanup only objects that rules may write. What rules have left is
// read from where others may write as well, so it is not believed that it was allowed.
type permitted struct {
	cleanup.Reader
	sensitive []string // the kinds that are allowed
}

// List implements [cleanup.Reader]. A cleanup writes nothing that it was not shown.
func (p permitted) List(ctx context.Context, from plan.Selection, visit func(map[string]any) error) error {
	if !wellFormed(from) {
		return fmt.Errorf("there can be no resource %q of the group %q and version %q in the namespace %q",
			from.GVR.Resource, from.GVR.Group, from.GVR.Version, from.Namespace)
	}
	kind := rules.SensitiveKind(from.GVR.GroupResource())
	if kind != "" && !slices.Contains(p.sensitive, kind) {
		return fmt.Errorf("%s %w: run with --allow-sensitive=%s", plan.ResourceName(from.GVR), errSensitive, kind)
	}
	return p.Reader.List(ctx, from, visit) //nolint:wrapcheck // It says what was read.
}

// wellFormed reports whether a selection consists of names. With a path in their place it
// would be of another resource than it says.
func wellFormed(from plan.Selection) bool {
	label := func(text string) bool { return len(validation.IsDNS1123Label(text)) == 0 }
	group := from.GVR.Group == "" || len(validation.IsDNS1123Subdomain(from.GVR.Group)) == 0
	return group && label(from.GVR.Version) && label(from.GVR.Resource) && (from.Namespace == "" || label(from.Namespace))
}
