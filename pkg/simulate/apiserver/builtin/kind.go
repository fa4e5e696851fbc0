package builtin

import (
	"context"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// trait is how kinds differ; those of a kind are added up.
type trait uint16

const (
	clusterWide     trait = 1 << iota // its objects are in no namespace
	hasStatus                         // there is a status subresource, and writes of the object leave the status alone
	settableStatus                    // creating an object may set its status all the same
	aloofStatus                       // writes of the status leave labels, annotations and the like alone
	hasScale                          // there is a scale subresource
	guarded                           // updates need a resourceVersion
	createdByUpdate                   // an update may create
	answersDeleted                    // deleting answers with the object instead of a Status
	orphans                           // what belongs to an object stays when it is deleted, unless something else is asked for
)

// kind is a row of the table: what the API server's own strategies say of a kind.
type kind struct {
	schema.GroupVersionKind
	resource string
	traits   trait
	// bumps are the fields whose changes raise metadata.generation; without any, the kind
	// has no generations.
	bumps []string
	// fixed are the fields that never change.
	fixed []string
	// selectable are the fields that field selectors may name, beside those of all kinds.
	selectable []string
	// names says what is wrong with a name; nil stands for that of a DNS subdomain.
	names validation.ValidateNameFunc
	own   *custom
}

// custom is what a kind does beyond the table. Each may be nil, and is called after what
// the table says.
type custom struct {
	create         func(ctx context.Context, object runtime.Object)
	update         func(object, old runtime.Object)
	updateStatus   func(object, old runtime.Object)
	validate       func(object runtime.Object) field.ErrorList
	validateUpdate func(object, old runtime.Object) field.ErrorList
}

// is reports whether the kind has the trait.
func (k *kind) is(t trait) bool { return k.traits&t != 0 }

// groupVersionResource is how requests name the kind.
func (k *kind) groupVersionResource() schema.GroupVersionResource {
	return k.GroupVersion().WithResource(k.resource)
}

// validName is what is wrong with a name.
func (k *kind) validName(name string, prefix bool) []string {
	if k.names == nil {
		return validation.NameIsDNSSubdomain(name, prefix)
	}
	return k.names(name, prefix)
}

// anyName is what is wrong with a name that is only a part of paths.
func anyName(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}
