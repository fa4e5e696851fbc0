package informer

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
)

// astray is an API whose requests are answered by functions.
type astray struct {
	dynamic.Interface
	dynamic.NamespaceableResourceInterface
	list  func(metav1.ListOptions) (*unstructured.UnstructuredList, error)
	watch func() watch.Interface
}

func (a astray) List(_ context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return a.list(options)
}

func (a astray) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return a.watch(), nil
}

// TestOtherObjects holds that no object of another namespace or version comes into a cache, by a list or by a watch.
func TestOtherObjects(t *testing.T) {
	key := Key{GVR: widgets, Namespace: "ns"}
	for _, object := range []map[string]any{
		{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "other", "name": "a", "resourceVersion": "1"}},
		{"apiVersion": "example.com/v2", "kind": "Widget", "metadata": map[string]any{"namespace": "ns", "name": "a", "resourceVersion": "1"}},
		{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "ns", "resourceVersion": "1"}},
	} {
		r := running{store: store{key: key}, resource: astray{list: func(metav1.ListOptions) (*unstructured.UnstructuredList, error) {
			return &unstructured.UnstructuredList{Items: []unstructured.Unstructured{{Object: object}}}, nil
		}}}
		list, err := r.page(t.Context(), metav1.ListOptions{})
		if _, is := errors.AsType[*live.OtherObjectError](err); !is || list != nil {
			t.Errorf("%v: listed %v, %v", object, list, err)
		}
	}
}

// TestLargeLists holds that a list that is too large is asked for in pages, and that no page is taken for the whole list.
func TestLargeLists(t *testing.T) {
	for name, tc := range map[string]struct {
		options metav1.ListOptions
		fits    int64 // the limit that is small enough
		asked   string
		err     error
	}{
		"from the cache": {metav1.ListOptions{Limit: 500, ResourceVersion: "0"}, 500, "500@0 500@", nil},
		"large objects":  {metav1.ListOptions{Limit: 500}, 2, "500@ 31@ 1@", nil},
		"without pages":  {metav1.ListOptions{ResourceVersion: "7"}, 500, "0@7", errListAnew},
		"one":            {metav1.ListOptions{Limit: 1}, 0, "1@", &client.SizeError{Limit: 1}},
		"at all":         {metav1.ListOptions{}, 0, "0@", &client.SizeError{Limit: 1}},
	} {
		var asked []string
		r := running{store: store{key: Key{GVR: widgets}}, resource: astray{list: func(o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
			asked = append(asked, strconv.FormatInt(o.Limit, 10)+"@"+o.ResourceVersion)
			if o.Limit == 0 || o.Limit > tc.fits || o.ResourceVersion != "" {
				return nil, &client.SizeError{Limit: 1}
			}
			return &unstructured.UnstructuredList{}, nil
		}}}
		_, err := r.page(t.Context(), tc.options)
		if got := strings.Join(asked, " "); got != tc.asked || (err == nil) != (tc.err == nil) || err != nil && err.Error() != tc.err.Error() {
			t.Errorf("%s: asked %s, got %v", name, got, err)
		}
	}
}
