package informer

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// observed tells how each list and watch went, and of each event of a watch. The
// reflector keeps some failures to itself: a streamed first list that is refused a
// connection, or told to slow down, is tried again without a word to the watch error
// handler.
type observed struct {
	dynamic.Interface
	asked    func(list bool, err error) // after answered
	answered func(error)
	heard    func()
}

// Resource implements [dynamic.Interface].
func (o observed) Resource(gvr schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return observedResource{o.Interface.Resource(gvr), o}
}

type observedResource struct {
	dynamic.NamespaceableResourceInterface
	tell observed
}

// Namespace implements [dynamic.NamespaceableResourceInterface].
func (o observedResource) Namespace(namespace string) dynamic.ResourceInterface {
	return observedNamespace{o.NamespaceableResourceInterface.Namespace(namespace), o.tell}
}

type observedNamespace struct {
	dynamic.ResourceInterface
	tell observed
}

// List implements [dynamic.ResourceInterface].
func (o observedNamespace) List(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	list, err := o.ResourceInterface.List(ctx, options)
	o.tell.answered(err)
	o.tell.asked(true, err)
	return list, err
}

// Watch implements [dynamic.ResourceInterface].
func (o observedNamespace) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w, err := o.ResourceInterface.Watch(ctx, options)
	o.tell.answered(err)
	o.tell.asked(false, err)
	if err != nil {
		return nil, err
	}
	return hear(w, o.tell.heard), nil
}
