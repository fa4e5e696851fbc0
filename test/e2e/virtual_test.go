package e2e

import (
	"context"
	"net/http"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// virtually runs a test in virtual time, with -real alongside.
func virtually(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	virtual.Test(t, alongside, commonCRDs(t), test)
}

// virtuallyAlone is virtually for tests of moments: on a real control plane, nothing runs beside them.
func virtuallyAlone(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	virtual.Test(t, func(t *testing.T) { planes.Lend(t) }, commonCRDs(t), test)
}

// runVirtually is a subtest that runs virtually.
func runVirtually(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { virtually(t, test) })
}

// commonCRDs are those that all tests have.
func commonCRDs(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	out, err := readCommonCRDs()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var readCommonCRDs = sync.OnceValues(func() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := customResources(context.Background())
	if err != nil {
		return nil, err
	}
	return virtual.ReadCRDs(files...)
})

// transport is that of the test's cluster, nil for the network.
func transport(t *testing.T) http.RoundTripper {
	t.Helper()
	return virtual.Transport(cluster(t))
}
