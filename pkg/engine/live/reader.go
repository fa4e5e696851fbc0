package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// Timeout bounds one request: one object, or one page of a list.
const Timeout = 30 * time.Second

// pageSize is the limit of one page of a list, unless its objects are large.
const pageSize = 500

// Reader reads from the API server itself, past every cache. It is safe for concurrent use.
type Reader struct {
	rest rest.Interface
}

// NewReader returns a reader with the rights of config.
func NewReader(config *rest.Config) (*Reader, error) {
	config = dynamic.ConfigFor(config)
	config.GroupVersion, config.APIPath = nil, ""
	transport, err := client.HTTP(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	made, err := rest.UnversionedRESTClientForConfigAndClient(config, transport)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &Reader{rest: made}, nil
}

// Get returns nil where there is no such object. The namespace of a cluster-scoped object is empty.
func (r *Reader) Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error) {
	if !canBe(name) || namespace != "" && !canBe(namespace) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	request, err := r.At(http.MethodGet, gvr, namespace)
	if err != nil {
		return nil, err
	}
	answer := request.Name(name).Do(ctx)
	object, err := Decode(ctx, answer)
	switch err := cmp.Or(err, CheckObject(plan.Object{GVR: gvr, Namespace: namespace, Name: name}, object)); {
	// Of a resource that is not there nothing is known.
	case apierrors.IsNotFound(answer.Error()) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", plan.Object{GVR: gvr, Namespace: namespace, Name: name}, err)
	default:
		return object.Object, nil
	}
}

// keepingKey is the key of the context for [Keeping].
type keepingKey struct{}

// Keeping returns a context in which Get, and a write, read of the object in an answer just what these fields keep. Nil is for the
// whole object.
func Keeping(ctx context.Context, fields *projection.Fields) context.Context {
	return context.WithValue(ctx, keepingKey{}, fields)
}

// Decode reads the object in an answer, as far as [Keeping] says. It is empty where the answer is no object.
func Decode(ctx context.Context, answer rest.Result) (*unstructured.Unstructured, error) {
	fields, _ := ctx.Value(keepingKey{}).(*projection.Fields)
	if data, err := answer.Raw(); err == nil {
		object := &unstructured.Unstructured{}
		if object.Object, err = fields.Decode(data); err == nil && object.GetKind() != "" && object.GetKind() != "Status" {
			return object, nil
		}
	}
	other, err := answer.Get() // It tells an error from an answer that has none.
	object, _ := other.(*unstructured.Unstructured)
	return cmp.Or(object, &unstructured.Unstructured{}), err //nolint:wrapcheck // The caller tells what was sent.
}

// List visits the objects of a selection page by page, until visit returns an error, which is returned. When a continue token
// has expired the API server goes on with the objects as they are by then: one that was visited may be gone. The visitor may
// change the objects.
func (r *Reader) List(ctx context.Context, from plan.Selection, visit func(object map[string]any) error) error {
	limit := int64(pageSize)
	for token := ""; ; {
		page, err := r.page(ctx, from, token, limit)
		if _, tooLarge := errors.AsType[*client.SizeError](err); tooLarge && limit > 1 {
			limit = max(1, limit/16)
			continue
		}
		if status, is := errors.AsType[*apierrors.StatusError](err); is && apierrors.IsResourceExpired(err) {
			if next := status.ErrStatus.Continue; next != "" && next != token {
				token = next
				continue
			}
		}
		if err != nil {
			return fmt.Errorf("listing %s: %w", from, err)
		}
		for _, item := range page.Items {
			if err := CheckListed(from, &item); err != nil {
				return fmt.Errorf("listing %s: %w", from, err)
			}
			if err := visit(item.Object); err != nil {
				return err
			}
		}
		if token = page.GetContinue(); token == "" {
			return nil
		}
	}
}

func (r *Reader) page(ctx context.Context, from plan.Selection, token string, limit int64) (*unstructured.UnstructuredList, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	options := &metav1.ListOptions{LabelSelector: from.LabelSelector, FieldSelector: from.FieldSelector, Limit: limit, Continue: token}
	page := &unstructured.UnstructuredList{}
	request, err := r.At(http.MethodGet, from.GVR, from.Namespace)
	if err != nil {
		return page, err
	}
	err = request.SpecificallyVersionedParams(options, scheme.ParameterCodec, metav1.SchemeGroupVersion).Do(ctx).Into(page)
	return page, cmp.Or(err, checkKind(page))
}

// At begins a request to a resource, in a namespace or in all. client-go does not repeat it. It is an error if the request would go
// elsewhere, since a resource may come from an inventory that other users can write.
func (r *Reader) At(verb string, gvr schema.GroupVersionResource, namespace string) (*rest.Request, error) {
	prefix := []string{"apis", gvr.Group, gvr.Version}
	if gvr.Group == "" {
		prefix = []string{"api", gvr.Version}
	}
	for _, segment := range append(prefix, gvr.Resource) { // client-go joins the prefix as it is.
		if !canBe(segment) {
			return nil, fmt.Errorf("there can be no resource %q in version %q of group %q", gvr.Resource, gvr.Version, gvr.Group)
		}
	}
	return r.rest.Verb(verb).MaxRetries(0).Prefix(prefix...).NamespaceIfScoped(namespace, namespace != "").Resource(gvr.Resource), nil
}

// OtherObjectError says that the answer to a request has another object than the one that it was about. Whoever answers for an API,
// such as an aggregated API server, decides what it answers.
type OtherObjectError struct {
	// Field is what tells them apart, such as metadata.uid.
	Field string
}

// Error does not repeat the answer, which may be anything.
func (e *OtherObjectError) Error() string {
	return "the API server answered with another object: its " + e.Field + " is not the one that was asked for"
}

// CheckObject refuses an object that is not the one that was asked for, with an [OtherObjectError]. The kind, the name and the uid count
// where they are given.
func CheckObject(want plan.Object, got *unstructured.Unstructured) error {
	gvk := got.GroupVersionKind()
	switch {
	case gvk.GroupVersion() != want.GVR.GroupVersion():
		return &OtherObjectError{"apiVersion"}
	case gvk.Kind == "" || want.Kind != "" && gvk.Kind != want.Kind:
		return &OtherObjectError{"kind"}
	case got.GetNamespace() != want.Namespace:
		return &OtherObjectError{"metadata.namespace"}
	case got.GetName() == "" || want.Name != "" && got.GetName() != want.Name:
		return &OtherObjectError{"metadata.name"}
	case want.UID != "" && got.GetUID() != want.UID:
		return &OtherObjectError{"metadata.uid"}
	default:
		return nil
	}
}

// CheckListed refuses an object of a list, or of an event of a watch, that the selection cannot have. The selectors are left to the API
// server.
func CheckListed(from plan.Selection, got *unstructured.Unstructured) error {
	return CheckObject(plan.Object{GVR: from.GVR, Namespace: cmp.Or(from.Namespace, got.GetNamespace())}, got)
}

var errOtherKind = errors.New("the answer is neither an object nor a list of them")

// checkKind refuses an answer of another kind, which client-go decodes as an object, or a list, that is empty.
func checkKind(answer runtime.Unstructured) error {
	if kind := answer.GetObjectKind().GroupVersionKind().Kind; kind == "" || kind == "Status" {
		return errOtherKind
	}
	return nil
}

// canBe reports whether an object can have the name, which may come from a template. Other names would change the path of the
// request.
func canBe(name string) bool { return name != "" && len(rest.IsValidPathSegmentName(name)) == 0 }

// found has each object of an answer once, by namespace and name, however many selections have it.
type found map[[2]string]map[string]any

func (f found) add(object map[string]any) {
	f[[2]string{plan.Text(object, "metadata", "namespace"), plan.Text(object, "metadata", "name")}] = object
}

// Read answers a question as a complete cache would, in the order of namespaces, then names. The API server evaluates the
// selectors of From, and the labels of the question; an object that no selection of From selects is absent. A question for
// nothing is answered without a request.
func (r *Reader) Read(ctx context.Context, q plan.Read) ([]map[string]any, error) {
	all := found{}
	for _, from := range q.From {
		if q.Namespace != "" && from.Namespace != "" && q.Namespace != from.Namespace {
			continue
		}
		from.Namespace = cmp.Or(from.Namespace, q.Namespace)
		if from.Namespace != "" && !canBe(from.Namespace) {
			continue
		}
		var err error
		switch {
		case q.By == plan.ByName:
			err = r.named(ctx, q, from, all)
		case q.By == plan.ByLabels && q.Labels != "":
			from.LabelSelector = both(from.LabelSelector, q.Labels)
			err = r.matching(ctx, q, from, all)
		case q.By == plan.ByAll, q.By == plan.ByFields && len(q.Fields) > 0, q.By == plan.ByOwner && len(q.Owners) > 0:
			err = r.matching(ctx, q, from, all)
		}
		if err != nil {
			return nil, err
		}
	}
	out := make([]map[string]any, 0, len(all))
	for _, name := range slices.SortedFunc(maps.Keys(all), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		out = append(out, all[name])
	}
	return out, nil
}

// named reads each object by its name. A GET does not evaluate selectors, and needs the namespace; a list of one name does
// both.
func (r *Reader) named(ctx context.Context, q plan.Read, from plan.Selection, all found) error {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(q.Names))) {
		if !canBe(name) {
			continue
		}
		if from.Namespace == "" || from.LabelSelector != "" || from.FieldSelector != "" {
			one := from
			one.FieldSelector = both(from.FieldSelector, fields.OneTermEqualSelector("metadata.name", name).String())
			if err := r.matching(ctx, q, one, all); err != nil {
				return err
			}
			continue
		}
		object, err := r.Get(ctx, from.GVR, from.Namespace, name)
		if err != nil {
			return err
		}
		if object != nil {
			all.add(object)
		}
	}
	return nil
}

// matching lists a selection and adds the objects that answer the question.
func (r *Reader) matching(ctx context.Context, q plan.Read, from plan.Selection, all found) error {
	matches := q.Filter()
	return r.List(ctx, from, func(object map[string]any) error {
		if matches(object) {
			all.add(object)
		}
		return nil
	})
}

// both joins two selectors, of which one may be empty.
func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}
