package informer

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// observed tells an informer how each list and watch went, and of each event of a watch. The reflector keeps some
// failures to itself: a streamed first list that is refused a connection, or told to slow down, is tried again without a
// word to the watch error handler. A request that goes on from an earlier version, although the cache has to be listed
// anew, is answered here.
type observed struct {
	dynamic.Interface
	of *running
}

// Resource implements [dynamic.Interface].
func (o observed) Resource(gvr schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return observedResource{o.Interface.Resource(gvr), o.of}
}

type observedResource struct {
	dynamic.NamespaceableResourceInterface
	of *running
}

// Namespace implements [dynamic.NamespaceableResourceInterface].
func (o observedResource) Namespace(namespace string) dynamic.ResourceInterface {
	return observedNamespace{o.NamespaceableResourceInterface.Namespace(namespace), o.of}
}

type observedNamespace struct {
	dynamic.ResourceInterface
	of *running
}

// List implements [dynamic.ResourceInterface].
func (o observedNamespace) List(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	end, err := o.of.firstList(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if !o.of.begin(options, true) {
		return nil, errListAnew
	}
	list, err := o.ResourceInterface.List(ctx, options)
	o.of.answered(err)
	o.of.asked(true, err)
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		o.of.arrived(list.Items[i].Object)
	}
	if options.ResourceVersion == "" && list.GetContinue() == "" {
		o.of.listed(list.GetResourceVersion())
	}
	return list, nil
}

// Watch implements [dynamic.ResourceInterface].
func (o observedNamespace) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	end := func() {}
	if options.SendInitialEvents != nil {
		var err error
		if end, err = o.of.firstList(ctx); err != nil {
			return nil, err
		}
	}
	if !o.of.begin(options, options.SendInitialEvents != nil) {
		end()
		return nil, errListAnew
	}
	w, err := o.ResourceInterface.Watch(ctx, options)
	o.of.answered(err)
	o.of.asked(false, err)
	if err != nil {
		end()
		return nil, err
	}
	if options.SendInitialEvents == nil && o.of.informer.HasSynced() {
		go o.of.ask() // It goes on from a version that the API server may not have come to.
	}
	return o.of.hear(w, options.ResourceVersion == "", end), nil
}
