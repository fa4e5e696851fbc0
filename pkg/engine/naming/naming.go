// Package naming chooses the names of objects that have a generateName. The API server would choose another one each time; a name
// that was chosen before is sent again when an answer was lost, so that no second object is made.
package naming

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// SuffixLength is how many characters the API server adds to a generateName.
const SuffixLength = 5

// Random makes a name of a generateName as the API server does.
func Random(prefix string) string { return Join(prefix, rand.String(SuffixLength)) }

// Join makes a name of a generateName, which it cuts if it is too long, and a suffix.
func Join(prefix, suffix string) string {
	return prefix[:min(len(prefix), validation.DNS1123LabelMaxLength-SuffixLength)] + suffix
}

// Prefix is the generateName of the object that an operation creates, empty where that has a name.
func Prefix(o plan.Operation) string {
	fields, _ := o.Body.(map[string]any)
	if o.Type != plan.Create || plan.Text(fields, "metadata", "name") != "" {
		return ""
	}
	return plan.Text(fields, "metadata", "generateName")
}

// With returns an operation that creates its object under a name.
func With(o plan.Operation, name string) plan.Operation {
	fields, _ := o.Body.(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	metadata, fields = maps.Clone(metadata), maps.Clone(fields)
	metadata["name"] = name
	fields["metadata"] = metadata
	o.Body, o.Target.Name = fields, name
	return o
}

// Unresolved are the names of objects that may have been made: the answer was lost. The zero value has none.
type Unresolved []unresolved

type unresolved struct {
	rule   plan.Rule
	prefix string
	object plan.Object
}

// Keep notes the name of the object that an operation creates.
func (u *Unresolved) Keep(prefix string, o plan.Operation) {
	*u = append(*u, unresolved{o.Rules[0], prefix, plan.Object{GVR: o.Target.GVR, Namespace: o.Target.Namespace, Name: o.Target.Name}})
}

// Take removes the oldest name that the object of an operation may have, and returns it; it is empty where there is none.
func (u *Unresolved) Take(prefix string, o plan.Operation) string {
	i := slices.IndexFunc(*u, func(known unresolved) bool {
		return known.rule == o.Rules[0] && known.prefix == prefix && known.object.GVR == o.Target.GVR && known.object.Namespace == o.Target.Namespace
	})
	if i < 0 {
		return ""
	}
	name := (*u)[i].object.Name
	*u = slices.Delete(*u, i, i+1)
	return name
}
