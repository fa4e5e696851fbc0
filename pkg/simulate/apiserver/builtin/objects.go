package builtin

import (
	"context"
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/apiserver/pkg/storage/storagebackend"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// objects are the objects of a kind in the world of a request.
type objects struct{ *registry.Store }

// statuses are the same as their status subresource shows them.
type statuses struct{ *registry.Store }

// main is what is needed to serve a kind.
type main interface {
	rest.StandardStorage
	rest.ResetFieldsStrategy
}

var (
	_ main         = (*objects)(nil)
	_ main         = namespaces{}
	_ rest.Patcher = statuses{}
)

// Create implements the creation of objects. A name that is to be generated is the same in every
// run: it comes from what is in the world.
func (o *objects) Create(
	ctx context.Context, object runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions,
) (runtime.Object, error) {
	metadata, err := meta.Accessor(object)
	if err == nil && metadata.GetName() == "" && metadata.GetGenerateName() != "" {
		metadata.SetName(generateName(ctx, o.DefaultQualifiedResource, metadata.GetGenerateName()))
	}
	return o.Store.Create(ctx, object, validate, options) //nolint:wrapcheck // It is an answer.
}

// List implements [rest.Lister].
func (o *objects) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	return nameless(o.Store.List(ctx, options))
}

// DeleteCollection implements [rest.CollectionDeleter].
func (o *objects) DeleteCollection(
	ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions, which *metainternalversion.ListOptions,
) (runtime.Object, error) {
	return nameless(o.Store.DeleteCollection(ctx, validate, options, which))
}

// nameless takes the names of the kind off what is in a list, as a real API server has none there.
func nameless(list runtime.Object, err error) (runtime.Object, error) {
	if err != nil {
		return nil, err
	}
	err = meta.EachListItem(list, func(item runtime.Object) error {
		item.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		return nil
	})
	return list, err //nolint:wrapcheck // It cannot be: what a registry lists are objects.
}

// Update implements [rest.Updater]: it never creates.
func (s statuses) Update(
	ctx context.Context, name string, update rest.UpdatedObjectInfo, validateNew rest.ValidateObjectFunc,
	validate rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	return s.Store.Update(ctx, name, update, validateNew, validate, false, options) //nolint:wrapcheck // It is an answer.
}

// Suffixes of generated names are made of these, as the API server's are.
const (
	suffixLetters = "bcdfghjklmnpqrstvwxz2456789"
	suffixLength  = 5
	longestBase   = 63 - suffixLength
)

// generateName makes a name that no object of the world has been given.
func generateName(ctx context.Context, resource schema.GroupResource, base string) string {
	world := storage.From(ctx)
	if world == nil {
		return names.SimpleNameGenerator.GenerateName(base)
	}
	if len(base) > longestBase {
		base = base[:longestBase]
	}
	hash := fnv.New64a()
	fmt.Fprint(hash, world.UID(storage.Change{Resource: resource, Namespace: request.NamespaceValue(ctx), Name: base})) //nolint:errcheck // A hash takes everything.
	suffix := make([]byte, suffixLength)
	for i, rest := 0, hash.Sum64(); i < suffixLength; i, rest = i+1, rest/uint64(len(suffixLetters)) {
		suffix[i] = suffixLetters[rest%uint64(len(suffixLetters))]
	}
	return base + string(suffix)
}

// store makes the registry of a kind and that of its status, nil where it has none.
func (k *Kinds) store(row *kind) (main, *registry.Store, error) {
	list := row.GroupVersion().WithKind(row.Kind + "List")
	own := strategy{row, k.typer(row), names.SimpleNameGenerator}
	resource := row.groupVersionResource().GroupResource()
	store := &registry.Store{
		NewFunc:                   k.maker(row.GroupVersionKind),
		NewListFunc:               k.maker(list),
		DefaultQualifiedResource:  resource,
		SingularQualifiedResource: singular(row),
		CreateStrategy:            own,
		UpdateStrategy:            own,
		DeleteStrategy:            deletion(own),
		ResetFieldsStrategy:       own,
		ReturnDeletedObject:       row.is(answersDeleted),
		TableConvertor:            rest.NewDefaultTableConvertor(resource),
		PredicateFunc:             row.predicate,
	}
	if row.Kind == "Namespace" {
		store.ShouldDeleteDuringUpdate = emptied
	}
	if err := store.CompleteWithOptions(k.storeOptions(row)); err != nil {
		return nil, nil, fmt.Errorf("making the registry of %s: %w", resource, err)
	}
	var status *registry.Store
	if row.is(hasStatus) {
		other := *store
		other.UpdateStrategy, other.ResetFieldsStrategy = statusStrategy{own}, statusStrategy{own}
		status = &other
	}
	if row.Kind == "Namespace" {
		return namespaces{&objects{store}}, status, nil
	}
	return &objects{store}, status, nil
}

// deletion is the strategy for deleting objects of a kind.
func deletion(s strategy) rest.RESTDeleteStrategy {
	switch {
	case s.Kind == "Pod":
		return graceful{s}
	case s.is(orphans):
		return dependents{s, rest.OrphanDependents}
	case s.Kind == "Event":
		return dependents{s, rest.Unsupported}
	default:
		return s
	}
}

func (k *Kinds) storeOptions(row *kind) *generic.StoreOptions {
	resource := row.groupVersionResource().GroupResource()
	config := storagebackend.Config{Codec: k.codec(row.GroupVersion())}
	return &generic.StoreOptions{AttrFunc: row.attributes, RESTOptions: generic.RESTOptions{
		StorageConfig:           config.ForResource(resource),
		Decorator:               storage.Decorate,
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: 1,
		ResourcePrefix:          storage.Prefix(resource),
	}}
}
