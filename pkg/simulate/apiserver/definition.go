package apiserver

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// Definition reads a CustomResourceDefinition of any version that API servers have had.
func Definition(document map[string]any) (*apiextensionsv1.CustomResourceDefinition, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encoding a CustomResourceDefinition: %w", err)
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	read, _, err := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("reading a CustomResourceDefinition: %w", err)
	}
	scheme.Default(read) // What v1beta1 leaves out does not mean what it means in v1.
	var internal apiextensions.CustomResourceDefinition
	if err := scheme.Convert(read, &internal, nil); err != nil {
		return nil, fmt.Errorf("converting a CustomResourceDefinition: %w", err)
	}
	out := &apiextensionsv1.CustomResourceDefinition{}
	if err := scheme.Convert(&internal, out, nil); err != nil {
		return nil, fmt.Errorf("converting a CustomResourceDefinition: %w", err)
	}
	return out, nil
}
