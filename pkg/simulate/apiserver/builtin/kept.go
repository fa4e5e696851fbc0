package builtin

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
)

// kept encodes what a real API server would have left of an object once it is stored.
// There built-in kinds are stored as protocol buffers, which cannot tell an empty list or
// map from one that is absent, nor null from what is empty in a map.
type kept struct {
	runtime.Serializer
	scheme *runtime.Scheme
}

// message is what the types of k8s.io/api are as protocol buffers.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// Encode implements [runtime.Encoder].
func (k kept) Encode(object runtime.Object, w io.Writer) error {
	from, is := object.(message)
	if !is {
		return k.Serializer.Encode(object, w) //nolint:wrapcheck // It is that of the serializer.
	}
	data, err := from.Marshal()
	if err != nil {
		return fmt.Errorf("storing an object: %w", err)
	}
	gvk := object.GetObjectKind().GroupVersionKind()
	left, err := k.scheme.New(gvk)
	if err != nil {
		return fmt.Errorf("storing an object: %w", err)
	}
	into, is := left.(message)
	if !is {
		return k.Serializer.Encode(object, w) //nolint:wrapcheck // It is that of the serializer.
	}
	if err := into.Unmarshal(data); err != nil {
		return fmt.Errorf("storing an object: %w", err)
	}
	left.GetObjectKind().SetGroupVersionKind(gvk)
	return k.Serializer.Encode(left, w) //nolint:wrapcheck // It is that of the serializer.
}
