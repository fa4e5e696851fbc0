package client

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// For returns a client for a group-version that knows the types which are given, errors and watch events. The
// configuration is left as it is. An error says that the configuration is not valid. The client is safe for concurrent use.
func For(config *rest.Config, gv schema.GroupVersion, types ...runtime.Object) (*rest.RESTClient, error) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(gv, types...)
	metav1.AddToGroupVersion(scheme, gv)
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // Status, in which errors come.
	own := rest.CopyConfig(config)
	own.GroupVersion, own.APIPath = &gv, "/apis"
	own.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(scheme, serializer.NewCodecFactory(scheme)).WithoutConversion()
	if own.UserAgent == "" {
		own.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	transport, err := HTTP(own)
	if err != nil {
		return nil, err
	}
	return rest.RESTClientForConfigAndClient(own, transport) //nolint:wrapcheck // The callers say what for.
}
