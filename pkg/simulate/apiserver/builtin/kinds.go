package builtin

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/applyconfigurations"
)

// Kinds serves the built-in kinds. It is immutable, makes what a kind needs when that is
// asked for first, and is safe for concurrent use.
type Kinds struct {
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
	admit  admission.Interface
	types  func() managedfields.TypeConverter
	served map[schema.GroupVersionResource]func() (*endpoint, error)
	rows   []*kind // in the order of their names
}

// New returns the built-in kinds behind an admission chain, which sees writes as that of a
// real API server does; nil lets everything pass.
func New(admit admission.Interface) (*Kinds, error) {
	known, err := newScheme()
	if err != nil {
		return nil, err
	}
	k := &Kinds{
		scheme: known,
		codecs: serializer.NewCodecFactory(known),
		admit:  admit,
		types:  sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(known) }),
		served: map[schema.GroupVersionResource]func() (*endpoint, error){},
		rows:   table(),
	}
	for _, row := range k.rows {
		if err := row.selects(known); err != nil {
			return nil, err
		}
	}
	if k.admit == nil {
		k.admit = admission.NewChainHandler()
	}
	for _, row := range k.rows {
		k.served[row.groupVersionResource()] = sync.OnceValues(func() (*endpoint, error) { return k.endpoint(row) })
	}
	slices.SortFunc(k.rows, func(a, b *kind) int { return strings.Compare(a.String(), b.String()) })
	return k, nil
}

// Resource is a kind as requests name it.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
	// Subresources are those that are served, in order.
	Subresources []string
}

// Resource looks a kind up by its resource. Of a kind that Kubernetes has in several
// versions one is served.
func (k *Kinds) Resource(gvr schema.GroupVersionResource) (Resource, bool) {
	return k.find(func(row *kind) bool { return row.groupVersionResource() == gvr })
}

// Kind looks a kind up by its name.
func (k *Kinds) Kind(gvk schema.GroupVersionKind) (Resource, bool) {
	return k.find(func(row *kind) bool { return row.GroupVersionKind == gvk })
}

// Resources lists all kinds in order.
func (k *Kinds) Resources() []Resource {
	out := make([]Resource, 0, len(k.rows))
	for _, row := range k.rows {
		out = append(out, row.described())
	}
	return out
}

func (k *Kinds) find(is func(*kind) bool) (Resource, bool) {
	at := slices.IndexFunc(k.rows, is)
	if at < 0 {
		return Resource{}, false
	}
	return k.rows[at].described(), true
}

func (k *kind) described() Resource {
	out := Resource{GroupVersionResource: k.groupVersionResource(), Kind: k.Kind, Namespaced: !k.is(clusterWide)}
	if k.is(hasScale) {
		out.Subresources = append(out.Subresources, "scale")
	}
	if k.is(hasStatus) {
		out.Subresources = append(out.Subresources, "status")
	}
	return out
}

var _ http.Handler = (*Kinds)(nil)
