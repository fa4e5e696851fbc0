package apiserver

import (
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// Definition reads a CustomResourceDefinition of any version that API servers have had.
func Definition(document map[string]any) (*apiextensionsv1.CustomResourceDefinition, error) {
	read, err := definitionOf(document)
	if err != nil {
		return nil, err
	}
	out := &apiextensionsv1.CustomResourceDefinition{}
	if err := scheme().Convert(read, out, nil); err != nil {
		return nil, fmt.Errorf("converting a CustomResourceDefinition: %w", err)
	}
	return out, nil
}

// definitionOf reads it as an API server has it in memory.
func definitionOf(document map[string]any) (*apiextensions.CustomResourceDefinition, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encoding a CustomResourceDefinition: %w", err)
	}
	read, _, err := codecs().UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("reading a CustomResourceDefinition: %w", err)
	}
	scheme().Default(read) // What v1beta1 leaves out does not mean what it means in v1.
	out := &apiextensions.CustomResourceDefinition{}
	if err := scheme().Convert(read, out, nil); err != nil {
		return nil, fmt.Errorf("converting a CustomResourceDefinition: %w", err)
	}
	return out, nil
}

// scheme knows definitions of all versions. It does not change.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	known := runtime.NewScheme()
	install.Install(known)
	return known
})

// codecs reads definitions of all versions.
var codecs = sync.OnceValue(func() serializer.CodecFactory { return serializer.NewCodecFactory(scheme()) })
