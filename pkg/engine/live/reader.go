package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Timeout bounds one request: one object, or one page of a list.
const Timeout = 30 * time.Second

// Reader reads from the API server itself, past every cache. It is safe for
// concurrent use.
type Reader struct {
	rest rest.Interface
}

// NewReader returns a reader with the rights of config.
func NewReader(config *rest.Config) (*Reader, error) {
	config = dynamic.ConfigFor(config)
	config.GroupVersion, config.APIPath = nil, ""
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for live reads: %w", err)
	}
	return &Reader{rest: client}, nil
}

var errOtherKind = errors.New("the answer is neither an object nor a list of them")

// checkKind keeps an answer of another kind from looking like an object, or a list,
// without anything in it. client-go says nothing of it.
func checkKind(kind string) error {
	if kind == "" || kind == "Status" {
		return errOtherKind
	}
	return nil
}

// Get returns nil where there is no such object. The namespace of an object that is
// cluster-scoped is empty.
func (r *Reader) Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error) {
	if !canBe(name) || namespace != "" && !canBe(namespace) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	var object unstructured.Unstructured
	err := r.at(gvr, namespace).Name(name).Do(ctx).Into(&object)
	if err == nil {
		err = checkKind(object.GetKind())
	}
	switch {
	case isAbsent(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", plan.Object{GVR: gvr, Namespace: namespace, Name: name}, err)
	default:
		return object.Object, nil
	}
}

// at addresses a resource, in a namespace or in all.
func (r *Reader) at(gvr schema.GroupVersionResource, namespace string) *rest.Request {
	prefix := []string{"apis", gvr.Group, gvr.Version}
	if gvr.Group == "" {
		prefix = []string{"api", gvr.Version}
	}
	return r.rest.Get().MaxRetries(0).
		Prefix(prefix...).NamespaceIfScoped(namespace, namespace != "").Resource(gvr.Resource)
}

// canBe reports whether an object can have the name. What cannot would not stay in
// its place of a path; it may come from a template.
func canBe(name string) bool { return name != "" && len(rest.IsValidPathSegmentName(name)) == 0 }

// isAbsent tells an object that is not there from a resource that is not, of which
// nothing is known.
func isAbsent(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
