package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// Dynamic returns a dynamic client whose objects are whole. It sends and receives JSON.
func Dynamic(config *rest.Config) (dynamic.Interface, error) {
	transport, err := HTTP(config)
	if err != nil {
		return nil, err
	}
	return NewDynamic(config, transport, nil)
}

// NewDynamic returns a dynamic client whose lists and watches have just these fields of each object, and build no others. What else it
// gets is whole: objects of other requests, Status objects, and the metadata of lists. Nil is for all fields. It sends and receives JSON.
// The transport is one of [HTTP].
//
// The client differs from [dynamic.NewForConfigAndClient] in the decoding alone, and decodes with the decoders of that client
// what has not the usual form. An event that is too large ends a watch. Clients share connections through the HTTP client, and a limit of requests only through
// config.RateLimiter.
func NewDynamic(config *rest.Config, transport *http.Client, fields *projection.Fields) (dynamic.Interface, error) {
	config = dynamic.ConfigFor(config)
	config.AcceptContentTypes = runtime.ContentTypeJSON
	config.GroupVersion, config.APIPath = nil, "/unused" // Requests of a dynamic client have absolute paths.
	stock := config.NegotiatedSerializer
	info, _ := runtime.SerializerInfoForMediaType(stock.SupportedMediaTypes(), runtime.ContentTypeJSON)
	info.Serializer = &decoding{Serializer: info.Serializer, fields: fields}
	info.StreamSerializer = &runtime.StreamSerializerInfo{
		EncodesAsText: true, Serializer: events{info.StreamSerializer.Serializer}, Framer: eventFramer{info.StreamSerializer.Framer},
	}
	config.NegotiatedSerializer = negotiated{stock, []runtime.SerializerInfo{info}}
	restClient, err := rest.UnversionedRESTClientForConfigAndClient(config, transport)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return dynamic.New(restClient), nil
}

// negotiated is a serializer of the dynamic client with other media types.
type negotiated struct {
	runtime.NegotiatedSerializer
	supported []runtime.SerializerInfo
}

// SupportedMediaTypes implements [runtime.NegotiatedSerializer].
func (n negotiated) SupportedMediaTypes() []runtime.SerializerInfo { return n.supported }

// decoding decodes lists, and the objects of events. For anything else, and what has not the usual form, it is the one of the
// dynamic client.
type decoding struct {
	runtime.Serializer
	fields *projection.Fields
}

// Decode implements [runtime.Decoder]. The dynamic client calls it with an UnstructuredList for the answer to a list, and with
// nothing for the object of an event. With defaults it asks for the Status in an answer.
func (s *decoding) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	switch list, isList := into.(*unstructured.UnstructuredList); {
	case isList && s.decodeList(data, list):
		gvk := list.GroupVersionKind()
		return list, &gvk, nil
	case into == nil && defaults == nil:
		return s.decodeObject(data)
	}
	out, gvk, err := s.Serializer.Decode(data, defaults, into)
	if list, isList := out.(*unstructured.UnstructuredList); isList && err == nil {
		for i := range list.Items {
			list.Items[i].Object = s.fields.Project(list.Items[i].Object)
		}
	}
	return out, gvk, err //nolint:wrapcheck // The caller is client-go, which compares errors.
}

// decodeList fills a list as [unstructured.UnstructuredJSONScheme] does, if it has the usual form.
func (s *decoding) decodeList(data []byte, list *unstructured.UnstructuredList) bool {
	content, items, ok := s.fields.DecodeList(data)
	if !ok || !isUsual(content) {
		return false
	}
	decoded := unstructured.UnstructuredList{Object: content, Items: make([]unstructured.Unstructured, len(items))}
	kind, apiVersion := strings.TrimSuffix(decoded.GetKind(), "List"), decoded.GetAPIVersion()
	for i, item := range items {
		object, isObject := item.(map[string]any)
		if !isObject {
			return false
		}
		u := &decoded.Items[i]
		if u.Object = object; u.GetKind() == "" && u.GetAPIVersion() == "" { // As in lists of types in Go.
			u.SetKind(kind)
			u.SetAPIVersion(apiVersion)
		}
	}
	*list = decoded
	return true
}

func (s *decoding) decodeObject(data []byte) (runtime.Object, *schema.GroupVersionKind, error) {
	if object, err := s.fields.Decode(data); err == nil && isUsual(object) {
		u := &unstructured.Unstructured{Object: object}
		gvk := u.GroupVersionKind()
		return u, &gvk, nil
	}
	var event metav1.WatchEvent // It may have more than its type and an object.
	if err := utiljson.Unmarshal(slices.Concat([]byte(`{"object":`), data, []byte("}")), &event); err == nil && event.Type == "" {
		data = event.Object.Raw
	}
	out, gvk, err := s.Serializer.Decode(data, nil, nil)
	if u, isObject := out.(*unstructured.Unstructured); isObject && err == nil {
		u.Object = s.fields.Project(u.Object)
	}
	return out, gvk, err //nolint:wrapcheck // The caller is client-go, which compares errors.
}

// isUsual reports whether an object says what it is, and is no Status.
func isUsual(object map[string]any) bool {
	kind, _ := object["kind"].(string)
	apiVersion, _ := object["apiVersion"].(string)
	group, version, grouped := strings.Cut(apiVersion, "/")
	return kind != "" && kind != "Status" && group != "" && (!grouped || version != "" && !strings.Contains(version, "/"))
}

// events decodes the envelopes of events in the form that API servers write, which takes no look at the object:
//
//	{"type":"ADDED","object":{...}}
//
// Others are decoded by the serializer of the dynamic client.
type events struct{ runtime.Serializer }

const prefix = `{"type":"`

// Decode implements [runtime.Decoder]. An event refers to the data.
func (e events) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	event, isEvent := into.(*metav1.WatchEvent)
	rest, hasType := bytes.CutPrefix(data, []byte(prefix))
	name, rest, hasObject := bytes.Cut(rest, []byte(`","object":`))
	rest, ends := bytes.CutSuffix(bytes.TrimRight(rest, " \t\r\n"), []byte("}"))
	if isEvent && hasType && hasObject && ends {
		for _, known := range [...]watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark, watch.Error} {
			if string(name) == string(known) {
				event.Type, event.Object.Raw = string(known), rest
				return event, defaults, nil
			}
		}
	}
	return e.Serializer.Decode(data, defaults, into) //nolint:wrapcheck // The caller is client-go, which compares errors.
}

// eventFramer reads events that have a line each, as API servers write them. A stream that begins otherwise is left to the
// framer of the dynamic client.
type eventFramer struct{ runtime.Framer }

// NewFrameReader implements [runtime.Framer].
func (l eventFramer) NewFrameReader(body io.ReadCloser) io.ReadCloser {
	return &lineReader{Closer: body, in: bufio.NewReader(body), stock: l.Framer}
}

// lineReader returns one line with each read, in parts where the buffer is too short.
type lineReader struct {
	io.Closer
	in      *bufio.Reader
	stock   runtime.Framer // until the stream begins
	frames  io.Reader      // of a stream that does not have a line for each event
	bounded *bounded       // what frames reads
	pending []byte         // read, but not returned yet; good until in is read again
	within  bool           // the line has begun
	ends    bool           // the line ends with what is pending
}

// Read implements [io.Reader] as [streaming.NewDecoder] wants it of a frame reader.
func (l *lineReader) Read(into []byte) (n int, err error) {
	if l.stock != nil {
		if start, _ := l.in.Peek(len(prefix)); string(start) != prefix {
			l.bounded = &bounded{ReadCloser: io.NopCloser(l.in), limit: maxObject}
			l.frames = l.stock.NewFrameReader(l.bounded)
		}
		l.stock = nil
	}
	if l.frames != nil {
		l.bounded.left = maxObject // It reads at most one event at a time, as a whole.
		return l.frames.Read(into) //nolint:wrapcheck // It is what the caller expects of a reader.
	}
	for {
		copied := copy(into[n:], l.pending)
		n, l.pending = n+copied, l.pending[copied:]
		switch {
		case len(l.pending) > 0:
			return n, io.ErrShortBuffer
		case l.ends:
			l.within, l.ends = false, false
			return n, nil
		}
		line, err := l.in.ReadSlice('\n')
		isBlank := !l.within && len(bytes.TrimSpace(line)) == 0
		switch {
		case err == nil && isBlank:
		case err == nil || errors.Is(err, bufio.ErrBufferFull):
			l.pending, l.within, l.ends = line, true, err == nil
		case errors.Is(err, io.EOF) && !isBlank:
			return n, io.ErrUnexpectedEOF
		default:
			return n, err //nolint:wrapcheck // It is what the caller expects of a reader.
		}
	}
}
